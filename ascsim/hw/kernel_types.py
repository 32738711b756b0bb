"""Which cores a launch has: the kernel types of the vendor's runtime."""

# KernelType of the vendor's runtime: number -> (name, AIC a group, AIV a group, cross-core flags work)
KERNEL_TYPES = (
    ("AIV_ONLY", 0, 1, False),
    ("AIC_ONLY", 1, 0, False),
    ("MIX_AIV_HARD_SYNC", 0, 1, True),
    ("MIX_AIC_HARD_SYNC", 1, 0, True),
    ("MIX_AIV_1_0", 0, 1, True),
    ("MIX_AIC_1_0", 1, 0, True),
    ("MIX_AIC_1_1", 1, 1, True),
    ("MIX_AIC_1_2", 1, 2, True),
)
