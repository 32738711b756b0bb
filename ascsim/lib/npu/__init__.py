"""The NPU backend: kernels handed untouched to an installed pyasc (optional extra `npu`).

| module | holds |
|---|---|
| front_end | whether pyasc is there, and how to reach it while `asc` may mean ascsim |
| rebinding | kernels and values of ascsim made over into pyasc's of the same name |
| emission | the Ascend C text of a kernel, without a device: `emit` |
| availability | what a launch on a device lacks here, and what supplies it |
| launching | compiling and launching through pyasc |
| device | the ways in, for the rest of the package: they load the parts above when first called |
| comparison | one launch on both, outputs and durations side by side |

pyasc is under a licence of its own and nothing of it is contained here; ascsim alone never imports it.
"""
