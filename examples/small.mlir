// An attention with four channels; the tour of the README lowers it.
func.func @attend(%q: tensor<1x?x64xf32>, %table: tensor<?x64xf32>,
                  %ids: tensor<1x?xi32>, %tau: tensor<f32>,
                  %gammas: tensor<1xf32>) -> tensor<1x?x193xf32> {
  %y = rt.attend [#rt.centroid, #rt.decay<backward, 0>, #rt.top<1>, #rt.entropy]
    queries(%q : tensor<1x?x64xf32>)
    lookup(%table[%ids] : tensor<?x64xf32>, tensor<1x?xi32>)
    tau(%tau : tensor<f32>) gammas(%gammas : tensor<1xf32>)
    -> tensor<1x?x193xf32>
  return %y : tensor<1x?x193xf32>
}
