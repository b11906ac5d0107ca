//===- Identifiers.cpp - names that C++ leaves free -----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Identifiers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace raytention;

/// What no variable may be called: words of the language, macros that are
/// always there, and what the text itself calls.
static constexpr StringRef kWords =
    // C++, with the alternative tokens and later keywords
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch "
    "char char8_t char16_t char32_t class compl concept const const_cast "
    "consteval constexpr constinit continue co_await co_return co_yield "
    "decltype default delete do double dynamic_cast else enum explicit "
    "export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private "
    "protected public register reinterpret_cast requires restrict return "
    "short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true try typedef typeid typename "
    "typeof union unsigned using virtual void volatile wchar_t while xor "
    "xor_eq "
    // macros
    "NULL STD NOMINMAX THROWBADALLOC alloca assert linux unix va_arg "
    "va_copy va_end va_start "
    // the text
    "threadIdx blockIdx blockDim gridDim warpSize rt shared min max ceil "
    "ceilf exp expf exp2 exp2f fabs fabsf floor floorf fma fmaf fmax fmaxf "
    "fmin fminf log logf log2 log2f rsqrt rsqrtf sqrt sqrtf tanh tanhf";

/// What no kernel may be called besides: functions and types that NVRTC knows.
static constexpr StringRef kGlobals =
    "main std dim3 size_t ptrdiff_t clock_t va_list abort abs acos acosf "
    "acosh acoshf asin asinf asinh asinhf atan atan2 atan2f atanf atanh "
    "atanhf cbrt cbrtf clock clock64 copysign copysignf cos cosf cosh coshf "
    "cospi cospif cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1 cyl_bessel_i1f "
    "dadd dmul double2int double2ll double2uint double2ull dsub erf erfc "
    "erfcf erfcinv erfcinvf erfcx erfcxf erff erfinv erfinvf exit exp10 "
    "exp10f expm1 expm1f fdim fdimf fdivide fdividef float2double fmod "
    "fmodf free frexp frexpf hypot hypotf ilogb ilogbf int2double isfinite "
    "isinf isnan j0 j0f j1 j1f jn jnf labs ldexp ldexpf lgamma lgammaf "
    "ll2double llabs llmax llmin llrint llrintf llround llroundf log10 "
    "log10f log1p log1pf logb logbf lrint lrintf lround lroundf malloc "
    "memchr memcmp memcpy memmove memset modf modff nan nanf nearbyint "
    "nearbyintf nextafter nextafterf norm norm3d norm3df norm4d norm4df "
    "normcdf normcdff normcdfinv normcdfinvf normf pow powf powi printf "
    "puts rcbrt rcbrtf realloc remainder remainderf remquo remquof rhypot "
    "rhypotf rint rintf rnorm rnorm3d rnorm3df rnorm4d rnorm4df rnormf "
    "round roundf saturate scalbln scalblnf scalbn scalbnf signbit sin "
    "sincos sincosf sincospi sincospif sinf sinh sinhf sinpi sinpif strlen "
    "tan tanf tgamma tgammaf trap trunc truncf uint2double ull2double "
    "ullmax ullmin umax umin vprintf y0 y0f y1 y1f yn ynf";

/// Families of names that CUDA has claimed: macros, and functions.
static constexpr StringRef kMacroStarts[] = {"CUDA", "CU_", "NV_", "cuda"};
static constexpr StringRef kGlobalStarts[] = {
    "atomic",      "nvcuda", "surf1D", "surf2D", "surf3D",
    "surfCubemap", "tex1D",  "tex2D",  "tex3D",  "texCubemap"};

static StringSet<> split(StringRef words) {
  SmallVector<StringRef> list;
  words.split(list, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  StringSet<> set;
  for (StringRef word : list)
    set.insert(word);
  return set;
}

static bool startsWithAny(StringRef name, ArrayRef<StringRef> starts) {
  return any_of(starts,
                [&](StringRef start) { return name.starts_with(start); });
}

bool cuda::isReservedName(StringRef name) {
  static const StringSet<> words = split(kWords);
  return words.contains(name) || startsWithAny(name, kMacroStarts);
}

static bool isGlobalName(StringRef name) {
  static const StringSet<> globals = split(kGlobals);
  return cuda::isReservedName(name) || globals.contains(name) ||
         startsWithAny(name, kGlobalStarts);
}

std::string cuda::makeIdentifier(StringRef hint) {
  std::string name;
  for (char c : hint) {
    // Two underscores, and one in front, belong to the implementation.
    bool joins = name.empty() || name.back() == '_';
    if (isAlnum(c))
      name += c;
    else if (!joins)
      name += '_';
  }
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  if (none_of(name, isAlpha))
    return "";
  return isDigit(name.front()) ? "v" + name : name;
}

std::string cuda::mangleKernelName(StringRef symbol) {
  bool isPlain = makeIdentifier(symbol) == symbol && !isGlobalName(symbol) &&
                 !symbol.starts_with("rt_kernel_");
  if (isPlain)
    return symbol.str();
  std::string name = "rt_kernel_";
  for (char c : symbol)
    name += isAlnum(c) ? std::string(1, c) : "_" + toHex(StringRef(&c, 1));
  return name;
}
