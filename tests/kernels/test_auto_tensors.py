"""Tensors that the compiler places, with operations that need room of their own beside them."""

from __future__ import annotations

import numpy as np

import ascsim as asc


@asc.jit
def tangents(x: asc.GlobalAddress, z: asc.GlobalAddress):
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    angle = asc.LocalTensorAuto(x.dtype, 64)
    result = asc.LocalTensorAuto(x.dtype, 64)
    asc.data_copy(angle, x_gm, 64)
    asc.adv.tan(result, angle, 64)
    asc.data_copy(z_gm, result, 64)


def test_scratch_lies_above_the_tensors_that_the_compiler_places():
    x, z = np.linspace(-1, 1, 64, dtype=np.float32), np.zeros(64, np.float32)
    with asc.settings(checks=asc.Checks.strict()):
        tangents[1](x, z)
    np.testing.assert_allclose(z, np.tan(x.astype(np.float64)), rtol=1e-6)
