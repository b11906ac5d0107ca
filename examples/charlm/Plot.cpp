//===- Plot.cpp - the curve of a training as a picture --------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Plot.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using llvm::formatv;
using llvm::StringRef;

namespace raytention::charlm {

namespace {

/// Where the axes lie, in pixels, and what they span.
struct Frame {
  static constexpr double left = 60, right = 620, top = 40, bottom = 340;
  double steps = 1, low = 0, high = 1;

  double x(double step) const { return left + (right - left) * step / steps; }
  double y(double loss) const {
    return bottom - (bottom - top) * (loss - low) / (high - low);
  }
};

} // namespace

/// The losses shown end at tenths.
static Frame frameOf(llvm::ArrayRef<CurvePoint> curve, double baseline) {
  Frame frame;
  double low = baseline, high = baseline;
  for (const CurvePoint &point : curve) {
    low = std::min({low, point.training, point.validation});
    high = std::max({high, point.training, point.validation});
    frame.steps = double(point.step);
  }
  frame.low = std::floor(low * 10 - 0.5) / 10;
  frame.high = std::ceil(high * 10 + 0.5) / 10;
  return frame;
}

/// A round distance of ticks that gives at most `most` of them.
static double tickDistance(double span, double most) {
  double unit = std::pow(10, std::floor(std::log10(span / most)));
  for (double factor : {1.0, 2.0, 5.0})
    if (span / (unit * factor) <= most)
      return unit * factor;
  return unit * 10;
}

static void text(llvm::raw_ostream &os, double x, double y, StringRef anchor,
                 const llvm::Twine &words, StringRef colour = "#333") {
  os << formatv("<text x='{0:f1}' y='{1:f1}' text-anchor='{2}' "
                "fill='{3}'>{4}</text>\n",
                x, y, anchor, colour, words.str());
}

static void axes(llvm::raw_ostream &os, const Frame &frame) {
  double distance = tickDistance(frame.high - frame.low, 8);
  for (double tick = std::ceil(frame.low / distance - 1e-9) * distance;
       tick <= frame.high + 1e-9; tick += distance) {
    os << formatv("<path d='M{0:f1} {1:f1}H{2:f1}' stroke='#ddd'/>\n",
                  Frame::left, frame.y(tick), Frame::right);
    text(os, Frame::left - 8, frame.y(tick) + 4, "end",
         formatv("{0:f2}", tick).str());
  }
  distance = tickDistance(frame.steps, 8);
  for (double tick = 0; tick <= frame.steps + 1e-9; tick += distance)
    text(os, frame.x(tick), Frame::bottom + 18, "middle",
         formatv("{0:f0}", tick).str());
  os << formatv("<path d='M{0:f1} {1:f1}V{2:f1}H{3:f1}' fill='none' "
                "stroke='#333'/>\n",
                Frame::left, Frame::top, Frame::bottom, Frame::right);
  text(os, (Frame::left + Frame::right) / 2, Frame::bottom + 36, "middle",
       "steps");
  text(os, Frame::left, Frame::top - 16, "start", "nats per character");
}

static void line(llvm::raw_ostream &os, const Frame &frame,
                 llvm::ArrayRef<CurvePoint> curve, double CurvePoint::*loss,
                 StringRef name, StringRef colour, double legend) {
  os << "<polyline fill='none' stroke-width='2' stroke='" << colour
     << "' points='";
  for (const CurvePoint &point : curve)
    os << formatv("{0:f1},{1:f1} ", frame.x(double(point.step)),
                  frame.y(point.*loss));
  os << "'/>\n";
  text(os, Frame::right - 8, Frame::top + legend, "end", name, colour);
}

void plotCurve(llvm::ArrayRef<CurvePoint> curve, double baseline,
               llvm::raw_ostream &os) {
  Frame frame = frameOf(curve, baseline);
  os << "<svg xmlns='http://www.w3.org/2000/svg' width='660' height='400' "
        "font-family='sans-serif' font-size='12'>\n"
        "<rect width='660' height='400' fill='white'/>\n";
  axes(os, frame);
  line(os, frame, curve, &CurvePoint::training, "training", "#1f77b4", 12);
  line(os, frame, curve, &CurvePoint::validation, "validation", "#d62728", 28);
  os << formatv("<path d='M{0:f1} {1:f1}H{2:f1}' stroke='#2ca02c' "
                "stroke-dasharray='6 4'/>\n",
                Frame::left, frame.y(baseline), Frame::right);
  text(os, Frame::right - 8, Frame::top + 44, "end",
       formatv("trigram {0:f3}", baseline).str(), "#2ca02c");
  os << "</svg>\n";
}

} // namespace raytention::charlm
