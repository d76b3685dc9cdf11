# Batch, layer and group normalisation over ndarrays. See norm.pyx; the loops are in planes.pyx.
#
# Inputs may have any strides; results are new arrays. The only exception to "kernels write nothing"
# are running_mean and running_var: batch_norm in training updates them, after all checks.
