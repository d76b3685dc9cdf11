"""PyTorch's public names by namespace: written by tools/coverage.py."""

# fmt: off
NAMES = {
    "": """
AVG AcceleratorError AggregationType AliasDb AnyType Argument ArgumentSpec AwaitType
BenchmarkConfig BenchmarkExecutionStats Block BoolStorage BoolTensor BoolType BufferDict
ByteStorage ByteTensor CallStack Capsule CharStorage CharTensor ClassType Code
CompilationUnit CompleteArgumentSpec ComplexType ConcreteModuleType
ConcreteModuleTypeBuilder DeepCopyMemoTable DeserializationStorageContext DeviceObjType
DictType DispatchKey DispatchKeySet DoubleStorage DoubleTensor EnumType ErrorReport Event
ExcludeDispatchKeyGuard ExecutionPlan FatalError FileCheck FloatStorage FloatTensor
FloatType FunctionSchema Future FutureType Generator GradScaler Gradient Graph
GraphExecutorState IODescriptor InferredType IntStorage IntTensor IntType InterfaceType
JITException ListType LiteScriptModule LockingLogger LongStorage LongTensor ModuleDict
Node NoneType NoopLogger NumberType OperatorInfo OptionalType OutOfMemoryError
ParameterDict PyObjectType PyTorchFileReader PyTorchFileWriter RRefType SUM ScriptClass
ScriptClassFunction ScriptDict ScriptDictIterator ScriptDictKeyIterator ScriptFunction
ScriptList ScriptListIterator ScriptMethod ScriptModule ScriptModuleSerializer
ScriptObject ScriptObjectProperty SerializationStorageContext ShortStorage ShortTensor
Size StaticModule Stream StreamObjType StringType SymBool SymBoolType SymFloat SymInt
SymIntType Tag Tensor TensorType ThroughputBenchmark TracingState TupleType Type
TypedStorage UnionType UntypedStorage Use Value abs abs_ absolute accelerator acos acos_
acosh acosh_ adaptive_avg_pool1d adaptive_max_pool1d add addbmm addcdiv addcmul addmm
addmv addmv_ addr adjoint affine_grid_generator alias_copy all allclose alpha_dropout
alpha_dropout_ amax amin aminmax amp angle any ao arange arccos arccos_ arccosh arccosh_
arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan_ arctanh arctanh_
are_deterministic_algorithms_enabled argmax argmin argsort argwhere as_strided as_strided_
as_strided_copy as_strided_scatter as_tensor asarray asin asin_ asinh asinh_ atan atan2
atan_ atanh atanh_ atleast_1d atleast_2d atleast_3d autocast autocast_decrement_nesting
autocast_increment_nesting autograd avg_pool1d backends baddbmm bartlett_window batch_norm
batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt
batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats
batch_norm_update_stats bernoulli bfloat16 bilinear binary_cross_entropy_with_logits
bincount binomial bit bits16 bits1x8 bits2x4 bits4x2 bits8 bitwise_and bitwise_left_shift
bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman_window block_diag bmm bool
broadcast_tensors broadcast_to bucketize can_cast cartesian_prod cat ccol_indices_copy
cdist cdouble ceil ceil_ celu celu_ cfloat chain_matmul chalf channel_shuffle cholesky
cholesky_inverse cholesky_solve choose_qparams_optimized chunk clamp clamp_ clamp_max
clamp_max_ clamp_min clamp_min_ classes clear_autocast_cache clip clip_ clone
col_indices_copy column_stack combinations compile compiler complex complex128 complex32
complex64 concat concatenate cond conj conj_physical conj_physical_ constant_pad_nd conv1d
conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution
copysign corrcoef cos cos_ cosh cosh_ cosine_embedding_loss cosine_similarity
count_nonzero cov cpp cpu cross crow_indices_copy ctc_loss cuda
cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu
cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable
cummax cummin cumprod cumsum cumulative_trapezoid default_generator deg2rad deg2rad_
dequantize det detach detach_ detach_copy device diag diag_embed diagflat diagonal
diagonal_copy diagonal_scatter diff digamma dist distributed distributions div divide dot
double dropout dropout_ dsmm dsplit dstack dtype e einsum embedding embedding_bag
embedding_renorm_ empty empty_like empty_permuted empty_quantized empty_strided
enable_grad eq equal erf erf_ erfc erfc_ erfinv exp exp2 exp2_ exp_ expand_copy expm1
expm1_ export eye fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation
fbgemm_linear_int8_weight fbgemm_linear_int8_weight_fp32_activation
fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix
feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ fft fill
fill_ finfo fix fix_ flatten flip fliplr flipud float float16 float32 float4_e2m1fn_x2
float64 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu
float_power floor floor_ floor_divide fmax fmin fmod fork frac frac_ frexp frobenius_norm
from_file from_numpy frombuffer full full_like func functional
fused_moving_avg_obs_fake_quant futures fx gather gcd gcd_ ge geqrf ger
get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype get_autocast_ipu_dtype
get_autocast_xla_dtype get_default_device get_default_dtype get_deterministic_debug_mode
get_device get_device_module get_float32_matmul_precision get_num_interop_threads
get_num_threads get_rng_state gradient greater greater_equal grid_sampler grid_sampler_2d
grid_sampler_3d group_norm gru gru_cell gt half hamming_window hann_window hardshrink
has_lapack has_mkl has_openmp has_spectral hash_tensor heaviside hinge_embedding_loss
histc histogram histogramdd hsmm hsplit hspmm hstack hub hypot i0 i0_ igamma igammac iinfo
imag import_ir_module import_ir_module_from_buffer index_add index_copy index_fill
index_put index_put_ index_reduce index_select indices_copy inf inference_mode
init_num_threads initial_seed inner instance_norm int int1 int16 int2 int3 int32 int4 int5
int6 int64 int7 int8 int_repr inverse is_anomaly_check_nan_enabled is_anomaly_enabled
is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled
is_autocast_ipu_enabled is_autocast_xla_enabled is_complex is_conj
is_deterministic_algorithms_warn_only_enabled is_distributed is_floating_point
is_grad_enabled is_inference is_inference_mode_enabled is_neg is_nonzero is_same_size
is_signed is_storage is_tensor is_vulkan_available is_warn_always_enabled isclose isfinite
isin isinf isnan isneginf isposinf isreal istft jit kaiser_window kl_div kron kthvalue
layer_norm layout lcm lcm_ ldexp ldexp_ le lerp less less_equal lgamma library linalg
linspace load lobpcg log log10 log10_ log1p log1p_ log2 log2_ log_ log_softmax logaddexp
logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logit_
logspace logsumexp long lstm lstm_cell lt lu_solve lu_unpack manual_seed
margin_ranking_loss masked masked_fill masked_scatter masked_select matmul matrix_exp
matrix_power max max_pool1d max_pool1d_with_indices max_pool2d max_pool3d maximum mean
median memory_format merge_type_from_type_comment meshgrid min minimum miopen_batch_norm
miopen_convolution miopen_convolution_add_relu miopen_convolution_relu
miopen_convolution_transpose miopen_ctc_loss miopen_depthwise_convolution miopen_rnn
mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_linear_backward_weights
mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer mm mode monitor moveaxis movedim mps
msort mtia mul multinomial multiply multiprocessing mv mvlgamma nan nan_to_num nan_to_num_
nanmean nanmedian nanquantile nansum narrow narrow_copy native_batch_norm
native_channel_shuffle native_dropout native_group_norm native_layer_norm native_norm ne
neg neg_ negative negative_ nested newaxis nextafter nn no_grad nonzero nonzero_static
norm norm_except_dim normal not_equal nuclear_norm numel ones ones_like ops optim orgqr
ormqr outer overrides package pairwise_distance parse_ir parse_schema parse_type_comment
pdist permute permute_copy pi pinverse pixel_shuffle pixel_unshuffle poisson
poisson_nll_loss polar polygamma positive pow prelu prod profiler promote_types put
q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point
qint32 qint8 qr qscheme quantile quantization quantize_per_channel quantize_per_tensor
quantize_per_tensor_dynamic quantized_batch_norm quantized_gru_cell quantized_lstm_cell
quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
quantized_rnn_tanh_cell quasirandom quint2x4 quint4x2 quint8 rad2deg rad2deg_ rand
rand_like randint randint_like randn randn_like random randperm range ravel real
reciprocal reciprocal_ relu relu_ remainder renorm repeat_interleave reshape resize_as_
resize_as_sparse_ resolve_conj resolve_neg result_type return_types rms_norm rnn_relu
rnn_relu_cell rnn_tanh rnn_tanh_cell roll rot90 round round_ row_indices_copy row_stack
rrelu rrelu_ rsqrt rsqrt_ rsub saddmm save scalar_tensor scatter scatter_add
scatter_reduce searchsorted seed segment_reduce select select_copy select_scatter selu
selu_ serialization set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype
set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype
set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype
set_autocast_xla_enabled set_default_device set_default_tensor_type
set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal
set_num_interop_threads set_num_threads set_printoptions set_rng_state set_warn_always sgn
short sigmoid sigmoid_ sign signal signbit sin sin_ sinc sinc_ sinh sinh_ slice_copy
slice_inverse slice_scatter slogdet smm softmax sort sparse sparse_bsc_tensor
sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor
sparse_csr_tensor special split split_copy split_with_sizes split_with_sizes_copy spmm
sqrt sqrt_ square square_ squeeze squeeze_copy sspaddmm stack std std_mean stft storage
sub subtract sum svd swapaxes swapdims sym_constrain_range sym_constrain_range_for_size
sym_float sym_fresh_size sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum t t_copy
take take_along_dim tan tan_ tanh tanh_ tensor tensor_split tensordot testing
thread_safe_generator threshold threshold_ tile to_dlpack topk torch_version trace
transpose transpose_copy trapezoid trapz triangular_solve tril tril_indices
triplet_margin_loss triu triu_indices true_divide trunc trunc_ typename types uint1 uint16
uint2 uint3 uint32 uint4 uint5 uint6 uint64 uint7 uint8 unbind unbind_copy unflatten
unfold_copy unify_type_list unique_consecutive unravel_index unsafe_chunk unsafe_split
unsafe_split_with_sizes unsqueeze unsqueeze_copy use_deterministic_algorithms utils
values_copy vander var var_mean vdot version view_as_complex view_as_complex_copy
view_as_real view_as_real_copy view_copy vmap vsplit vstack wait where xlogy xlogy_ xpu
zero_ zeros zeros_like""",
    "Tensor": """
H T abs abs_ absolute absolute_ acos acos_ acosh acosh_ add add_ addbmm addbmm_ addcdiv
addcdiv_ addcmul addcmul_ addmm addmm_ addmv addmv_ addr addr_ adjoint all allclose amax
amin aminmax angle any apply_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh
arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ argmax argmin argsort argwhere
as_strided as_strided_ as_strided_scatter as_subclass asin asin_ asinh asinh_ atan atan2
atan2_ atan_ atanh atanh_ backward baddbmm baddbmm_ bernoulli bernoulli_ bfloat16 bincount
bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_
bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_
bmm bool broadcast_to byte cauchy_ ccol_indices cdouble ceil ceil_ cfloat chalf char
cholesky cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min
clamp_min_ clip clip_ clone coalesce col_indices conj conj_physical conj_physical_
const_data_ptr contiguous copy_ copysign copysign_ corrcoef cos cos_ cosh cosh_
count_nonzero cov cpu cross crow_indices cuda cummax cummin cumprod cumprod_ cumsum
cumsum_ data data_ptr deg2rad deg2rad_ dense_dim dequantize det detach detach_ device diag
diag_embed diagflat diagonal diagonal_scatter diff digamma digamma_ dim dim_order dist div
div_ divide divide_ dot double dsplit dtype eig element_size eq eq_ equal erf erf_ erfc
erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expand expand_as expm1 expm1_ exponential_ fill_
fill_diagonal_ fix fix_ flatten flip fliplr flipud float float_power float_power_ floor
floor_ floor_divide floor_divide_ fmax fmin fmod fmod_ frac frac_ frexp gather gcd gcd_ ge
ge_ geometric_ geqrf ger get_device grad grad_dtype grad_fn greater greater_ greater_equal
greater_equal_ gt gt_ half hardshrink hash_tensor heaviside heaviside_ histc histogram
hsplit hypot hypot_ i0 i0_ igamma igamma_ igammac igammac_ imag index index_add index_add_
index_copy index_copy_ index_fill index_fill_ index_put index_put_ index_reduce
index_reduce_ index_select indices inner int int_repr inverse ipu is_coalesced is_complex
is_conj is_contiguous is_cpu is_cuda is_distributed is_floating_point is_inference is_ipu
is_leaf is_maia is_meta is_mkldnn is_mps is_mtia is_neg is_nested is_nonzero is_pinned
is_quantized is_same_size is_set_to is_shared is_signed is_sparse is_sparse_csr is_vulkan
is_xla is_xpu isclose isfinite isinf isnan isneginf isposinf isreal istft item itemsize
kron kthvalue layout lcm lcm_ ldexp ldexp_ le le_ lerp lerp_ less less_ less_equal
less_equal_ lgamma lgamma_ log log10 log10_ log1p log1p_ log2 log2_ log_ log_normal_
log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_and_ logical_not
logical_not_ logical_or logical_or_ logical_xor logical_xor_ logit logit_ logsumexp long
lstsq lt lt_ lu lu_solve mH mT map2_ map_ masked_fill masked_fill_ masked_scatter
masked_scatter_ masked_select matmul matrix_exp matrix_power max maximum mean median min
minimum mm mode module_load moveaxis movedim msort mtia mul mul_ multinomial multiply
multiply_ mv mvlgamma mvlgamma_ name nan_to_num nan_to_num_ nanmean nanmedian nanquantile
nansum narrow narrow_copy nbytes ndim ndimension ne ne_ neg neg_ negative negative_
nelement new new_empty new_empty_strided new_full new_ones new_tensor new_zeros nextafter
nextafter_ nonzero nonzero_static norm normal_ not_equal not_equal_ numel numpy orgqr
ormqr outer output_nr permute pin_memory pinverse polygamma polygamma_ positive pow pow_
prelu prod put put_ q_per_channel_axis q_per_channel_scales q_per_channel_zero_points
q_scale q_zero_point qr qscheme quantile rad2deg rad2deg_ random_ ravel real reciprocal
reciprocal_ record_stream register_hook register_post_accumulate_grad_hook reinforce relu
relu_ remainder remainder_ renorm renorm_ repeat repeat_interleave requires_grad
requires_grad_ reshape reshape_as resize resize_ resize_as resize_as_ resize_as_sparse_
resolve_conj resolve_neg retain_grad retains_grad roll rot90 round round_ row_indices
rsqrt rsqrt_ scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_
select select_scatter set_ sgn sgn_ shape share_memory_ short sigmoid sigmoid_ sign sign_
signbit sin sin_ sinc sinc_ sinh sinh_ size slice_inverse slice_scatter slogdet smm
softmax solve sort sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ split
split_with_sizes sqrt sqrt_ square square_ squeeze squeeze_ sspaddmm std stft storage
storage_offset storage_type stride sub sub_ subtract subtract_ sum sum_to_size svd
swapaxes swapaxes_ swapdims swapdims_ symeig t t_ take take_along_dim tan tan_ tanh tanh_
tensor_split tile to to_dense to_mkldnn to_padded_tensor to_sparse to_sparse_bsc
to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr tolist topk trace transpose
transpose_ triangular_solve tril tril_ triu triu_ true_divide true_divide_ trunc trunc_
type type_as unbind unflatten unfold uniform_ unique unique_consecutive unsafe_chunk
unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ untyped_storage values var vdot
view view_as volatile vsplit where xlogy xlogy_ xpu zero_""",
    "nn": """
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss
AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d
AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Buffer
CELU CTCLoss ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d
ConstantPad2d ConstantPad3d Container Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d
ConvTranspose3d CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss CrossMapLRN2d
DataParallel Dropout Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag
FeatureAlphaDropout Flatten Fold FractionalMaxPool2d FractionalMaxPool3d GELU GLU GRU
GRUCell GaussianNLLLoss GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh
HingeEmbeddingLoss HuberLoss Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d
KLDivLoss L1Loss LPPool1d LPPool2d LPPool3d LSTM LSTMCell LayerNorm LazyBatchNorm1d
LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d
LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d
LazyInstanceNorm3d LazyLinear LeakyReLU Linear LinearCrossEntropyLoss
LinearCrossEntropyOptions LocalResponseNorm LogSigmoid LogSoftmax MSELoss
MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish
Module ModuleDict ModuleList MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss
MultiheadAttention NLLLoss NLLLoss2d PReLU PairwiseDistance Parameter ParameterDict
ParameterList PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNBase RNNCell
RNNCellBase RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d
ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU Sequential SiLU Sigmoid
SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus Softshrink Softsign
SyncBatchNorm Tanh Tanhshrink Threshold Transformer TransformerDecoder
TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer TripletMarginLoss
TripletMarginWithDistanceLoss Unflatten Unfold UninitializedBuffer UninitializedParameter
Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d attention
common_types factory_kwargs functional grad init intrinsic modules parallel parameter qat
quantizable quantized utils""",
    "nn.functional": """
ScalingType SwizzleType adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
adaptive_max_pool1d adaptive_max_pool1d_with_indices adaptive_max_pool2d
adaptive_max_pool2d_with_indices adaptive_max_pool3d adaptive_max_pool3d_with_indices
affine_grid alpha_dropout avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear
binary_cross_entropy binary_cross_entropy_with_logits celu celu_ channel_shuffle conv1d
conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
cosine_embedding_loss cosine_similarity cross_entropy ctc_loss dropout dropout1d dropout2d
dropout3d elu elu_ embedding embedding_bag feature_alpha_dropout fold
fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
fractional_max_pool3d_with_indices gaussian_nll_loss gelu glu grid_sample group_norm
grouped_mm gumbel_softmax hardshrink hardsigmoid hardswish hardtanh hardtanh_
hinge_embedding_loss huber_loss instance_norm interpolate kl_div l1_loss layer_norm
leaky_relu leaky_relu_ linear linear_cross_entropy local_response_norm log_softmax
logsigmoid lp_pool1d lp_pool2d lp_pool3d margin_ranking_loss max_pool1d
max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d
max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d mish mse_loss
multi_head_attention_forward multi_margin_loss multilabel_margin_loss
multilabel_soft_margin_loss native_channel_shuffle nll_loss normalize one_hot pad
pairwise_distance pdist pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu relu6
relu_ rms_norm rrelu rrelu_ scaled_dot_product_attention scaled_grouped_mm scaled_mm selu
selu_ sigmoid silu smooth_l1_loss soft_margin_loss softmax softmin softplus softshrink
softsign tanh tanhshrink threshold threshold_ triplet_margin_loss
triplet_margin_with_distance_loss unfold upsample upsample_bilinear upsample_nearest""",
    "nn.init": """
calculate_gain constant constant_ dirac dirac_ eye eye_ kaiming_normal kaiming_normal_
kaiming_uniform kaiming_uniform_ normal normal_ ones_ orthogonal orthogonal_ sparse
sparse_ trunc_normal_ uniform uniform_ xavier_normal xavier_normal_ xavier_uniform
xavier_uniform_ zeros_""",
    "nn.utils": """
clip_grad clip_grad_norm clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_
convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format convert_parameters
fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights fusion
get_total_norm init memory_format parameters_to_vector parametrizations parametrize
remove_spectral_norm remove_weight_norm rnn skip_init spectral_norm stateless
vector_to_parameters weight_norm""",
    "linalg": """
LinAlgError cholesky cholesky_ex cond cross det diagonal eig eigh eigvals eigvalsh
householder_product inv inv_ex ldl_factor ldl_factor_ex ldl_solve lstsq lu lu_factor
lu_factor_ex lu_solve matmul matrix_exp matrix_norm matrix_power matrix_rank multi_dot
norm pinv qr slogdet solve solve_ex solve_triangular svd svdvals tensorinv tensorsolve
vander vecdot vector_norm""",
    "fft": """
Tensor fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft
ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn""",
    "special": """
airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 chebyshev_polynomial_t
chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w digamma entr erf erfc
erfcx erfinv exp2 expit expm1 gammainc gammaincc gammaln hermite_polynomial_h
hermite_polynomial_he i0 i0e i1 i1e laguerre_polynomial_l legendre_polynomial_p log1p
log_ndtr log_softmax logit logsumexp modified_bessel_i0 modified_bessel_i1
modified_bessel_k0 modified_bessel_k1 multigammaln ndtr ndtri polygamma psi round
scaled_modified_bessel_k0 scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t
shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
shifted_chebyshev_polynomial_w sinc softmax spherical_bessel_j0 xlog1py xlogy zeta""",
    "optim": """
ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam Optimizer RAdam RMSprop
Rprop SGD SparseAdam lr_scheduler swa_utils swap_in_optimizer_params_and_state""",
    "optim.lr_scheduler": """
ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR
ExponentialLR LRScheduler LambdaLR LinearLR MultiStepLR MultiplicativeLR OneCycleLR
PolynomialLR ReduceLROnPlateau SequentialLR StepLR""",
    "autograd": """
Function NestedIOFunction Variable anomaly_mode backward detect_anomaly enable_grad
enforce_grad_layout_policy forward_ad function functional grad grad_mode gradcheck
gradgradcheck graph inference_mode is_multithreading_enabled is_view_replay_enabled
kineto_available no_grad profiler profiler_legacy profiler_util set_detect_anomaly
set_grad_enabled set_multithreading_enabled variable""",
    "autograd.functional": """
hessian hvp jacobian jvp vhp vjp""",
    "autograd.graph": """
GradientEdge Node allow_mutation_on_saved_tensors disable_saved_tensors_hooks
get_gradient_edge increment_version region_activation_memory_budget
register_multi_grad_hook save_on_cpu saved_tensors_hooks set_override_stale_capture_stream
set_warn_on_accumulate_grad_stream_mismatch""",
    "utils": """
ThroughputBenchmark backcompat backend_registration checkpoint collect_env cpp_backtrace
data deterministic dlpack generate_methods_for_privateuse1_backend get_cpp_backtrace hooks
rename_privateuse1_backend set_module swap_tensors throughput_benchmark weak""",
    "utils.data": """
BatchSampler ChainDataset ConcatDataset DFIterDataPipe DataChunk DataLoader Dataset
DistributedSampler IterDataPipe IterableDataset MapDataPipe RandomSampler Sampler
SequentialSampler StackDataset Subset SubsetRandomSampler TensorDataset
WeightedRandomSampler argument_validation dataloader datapipes dataset default_collate
default_convert distributed functional_datapipe get_worker_info graph graph_settings
guaranteed_datapipes_determinism non_deterministic random_split runtime_validation
runtime_validation_disabled sampler""",
    "distributions": """
AbsTransform AffineTransform Bernoulli Beta Binomial CatTransform Categorical Cauchy Chi2
ComposeTransform ContinuousBernoulli CorrCholeskyTransform CumulativeDistributionTransform
Dirichlet Distribution ExpTransform Exponential ExponentialFamily FisherSnedecor Gamma
GeneralizedPareto Geometric Gumbel HalfCauchy HalfNormal Independent IndependentTransform
InverseGamma Kumaraswamy LKJCholesky Laplace LogNormal LogisticNormal
LowRankMultivariateNormal LowerCholeskyTransform MixtureSameFamily Multinomial
MultivariateNormal NegativeBinomial Normal OneHotCategorical
OneHotCategoricalStraightThrough Pareto Poisson PositiveDefiniteTransform PowerTransform
RelaxedBernoulli RelaxedOneHotCategorical ReshapeTransform SigmoidTransform
SoftmaxTransform SoftplusTransform StackTransform StickBreakingTransform StudentT
TanhTransform Transform TransformedDistribution Uniform VonMises Weibull Wishart bernoulli
beta biject_to binomial categorical cauchy chi2 constraint_registry constraints
continuous_bernoulli dirichlet distribution exp_family exponential fishersnedecor gamma
generalized_pareto geometric gumbel half_cauchy half_normal identity_transform independent
inverse_gamma kl kl_divergence kumaraswamy laplace lkj_cholesky log_normal logistic_normal
lowrank_multivariate_normal mixture_same_family multinomial multivariate_normal
negative_binomial normal one_hot_categorical pareto poisson register_kl relaxed_bernoulli
relaxed_categorical studentT transform_to transformed_distribution transforms uniform
utils von_mises weibull wishart""",
    "signal.windows": """
bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann
kaiser nuttall windows""",
    "func": """
debug_unwrap functional_call functionalize grad grad_and_value hessian jacfwd jacrev jvp
linearize rearrange replace_all_batch_norm_modules_ stack_module_state vjp vmap""",
    "library": """
Library custom_op define fallthrough_kernel get_ctx get_kernel impl impl_abstract
infer_schema opcheck register_autocast register_autograd register_fake register_kernel
register_torch_dispatch register_vmap triton_op wrap_triton""",
    "profiler": """
ExecutionTraceObserver ProfilerAction itt kineto_available profile profiler
record_function schedule supported_activities tensorboard_trace_handler""",
    "overrides": """
BaseTorchFunctionMode TorchFunctionMode enable_reentrant_dispatch
get_default_nowrap_functions get_ignored_functions get_overridable_functions
get_testing_overrides handle_torch_function has_torch_function is_tensor_like
is_tensor_method_or_property redispatch_function resolve_name wrap_torch_function""",
    "random": """
fork_rng get_rng_state initial_seed manual_seed seed set_rng_state thread_safe_generator""",
    "serialization": """
LoadEndianness SourceChangeWarning StorageType add_safe_globals
check_module_version_greater_or_equal clear_safe_globals default_restore_location
get_crc32_options get_default_load_endianness get_default_mmap_options get_safe_globals
get_unsafe_globals_in_checkpoint load location_tag mkdtemp normalize_storage_type
register_package safe_globals save set_crc32_options set_default_load_endianness
set_default_mmap_options skip_data storage_to_tensor_type validate_cuda_device
validate_hpu_device""",
    "masked": """
MaskedTensor amax amin argmax argmin as_masked_tensor cumprod cumsum is_masked_tensor
log_softmax logaddexp logsumexp masked_tensor maskedtensor mean median norm normalize prod
softmax softmin std sum var""",
    "sparse": """
BFloat16Tensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor
LongTensor ShortTensor SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT
SparseSemiStructuredTensorCUTLASS addmm as_sparse_gradcheck check_sparse_tensor_invariants
log_softmax mm sampled_addmm semi_structured softmax spdiags spsolve sum
to_sparse_semi_structured""",
    "cuda": """
BFloat16Storage BFloat16Tensor BoolStorage BoolTensor ByteStorage ByteTensor CUDAGraph
CUDAPluggableAllocator CharStorage CharTensor ComplexDoubleStorage ComplexFloatStorage
CudaError DeferredCudaCallError DoubleStorage DoubleTensor Event ExternalStream
FloatStorage FloatTensor GreenContext HalfStorage HalfTensor IntStorage IntTensor
LongStorage LongTensor MemPool ShortStorage ShortTensor Stream StreamContext amp
caching_allocator_alloc caching_allocator_delete caching_allocator_disabled
caching_allocator_enable can_device_access_peer change_current_allocator check_error
clock_rate cudaStatus cudart current_blas_handle current_device current_solver_handle
current_stream default_generators default_stream device device_count device_memory_used
device_of empty_cache gds get_allocator_backend get_arch_list get_device_capability
get_device_name get_device_properties get_gencode_flags get_per_process_memory_fraction
get_rng_state get_rng_state_all get_stream_from_external get_sync_debug_mode graph
graph_pool_handle graphs green_contexts has_half has_magma host_memory_stats
host_memory_stats_as_nested_dict init initial_seed ipc_collect is_available
is_bf16_supported is_current_stream_capturing is_initialized is_tf32_supported jiterator
list_gpu_processes make_graphed_callables manual_seed manual_seed_all max_memory_allocated
max_memory_cached max_memory_reserved mem_get_info memory memory_allocated memory_cached
memory_reserved memory_snapshot memory_stats memory_stats_as_nested_dict memory_summary
memory_usage nccl nvtx power_draw profiler random reset_accumulated_host_memory_stats
reset_accumulated_memory_stats reset_max_memory_allocated reset_max_memory_cached
reset_peak_host_memory_stats reset_peak_memory_stats seed seed_all set_device
set_per_process_memory_fraction set_rng_state set_rng_state_all set_stream
set_sync_debug_mode sparse stream streams synchronize temperature tunable use_mem_pool
utilization""",
    "ops.aten": """
_adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d _cdist_forward
_embedding_bag _fft_c2r _fft_r2c _local_scalar_dense _log_softmax _native_batch_norm_legit
_native_batch_norm_legit_no_training _pdist_forward _softmax _to_copy abs acos acosh
adaptive_avg_pool1d add addmm alias amax amin any arange argmax argmin as_strided asin
asinh atan atan2 atanh avg_pool1d avg_pool2d avg_pool2d_backward avg_pool3d bitwise_and
bitwise_not bitwise_or bitwise_xor bmm cat ceil clamp clone col2im constant_pad_nd
convolution convolution_backward copy cos cosh cumsum diagonal div elu embedding
embedding_dense_backward empty empty_strided eq erf exp expand expm1 fill flip floor fmod
full full_like gather ge gelu grid_sampler_2d gt hardtanh index index_put index_select
isinf isnan le leaky_relu log log10 log1p log2 logical_and logical_not logical_or
logical_xor lt masked_scatter max max_pool2d_with_indices max_pool2d_with_indices_backward
max_pool3d_with_indices maximum mean min minimum mm mul native_dropout native_group_norm
native_group_norm_backward native_layer_norm native_layer_norm_backward ne neg nonzero
permute pow prod rand randn randperm reciprocal reflection_pad1d reflection_pad2d
reflection_pad3d relu remainder repeat replication_pad2d replication_pad3d resize_ round
rsqrt scalar_tensor scatter scatter_add scatter_reduce select select_scatter sigmoid sign
sin sinh slice slice_scatter sort split_with_sizes sqrt squeeze sub sum sym_is_contiguous
sym_numel sym_size sym_storage_offset sym_stride tan tanh topk trunc unsqueeze
upsample_bilinear2d upsample_nearest2d var view where""",
}

# Modules; everything below those of OPEN_MODULES is one, too.
MODULES = """
_C _VF __config__ __future__ _appdirs _awaits _classes _compile _custom_op
_custom_op.autograd _custom_op.impl _custom_ops _decomp _decomp.decompositions
_decomp.decompositions_for_jvp _decomp.decompositions_for_rng _dispatch _dispatch.python
_dynamo _environment _export _functorch _guards _higher_order_ops _inductor _jit_internal
_lazy _lazy.closure _lazy.computation _lazy.config _lazy.debug _lazy.device_context
_lazy.extract_compiled_graph _lazy.ir_cache _lazy.metrics _lazy.tensor_factory_functions
_lazy.ts_backend _library _library._out_variant _library.autograd _library.custom_ops
_library.effects _library.fake_class_registry _library.fake_impl _library.fake_profile
_library.infer_schema _library.opaque_object _library.simple_registry _library.triton
_library.utils _linalg_utils _lobpcg _logging _lowrank _meta_registrations _native _numpy
_opaque_base _ops _prims _prims_common _prims_common.wrappers _python_dispatcher _refs
_size_docs _sources _storage_docs _streambase _strobelight
_strobelight.cli_function_profiler _strobelight.compile_time_profiler _subclasses _tensor
_tensor_docs _tensor_iterator _tensor_str _thread_safe_fork _torch_docs _utils
_utils_internal _vendor _vendor.packaging _vendor.packaging._structures
_vendor.packaging.version _vendor.quack _vendor.quack._compile_payload
_vendor.quack._compile_worker _vendor.quack.activation _vendor.quack.autotuner
_vendor.quack.bench _vendor.quack.bench.bench_utils _vendor.quack.blockscaled_gemm_utils
_vendor.quack.cache _vendor.quack.cache.compile_only _vendor.quack.cache.jit
_vendor.quack.compile_utils _vendor.quack.copy_utils _vendor.quack.cute_dsl_elf_fix
_vendor.quack.cute_dsl_mlir_threading _vendor.quack.cute_dsl_utils
_vendor.quack.epi_composable _vendor.quack.epi_ops _vendor.quack.epi_utils
_vendor.quack.fast_math _vendor.quack.gemm_act _vendor.quack.gemm_base
_vendor.quack.gemm_blockscaled_interface _vendor.quack.gemm_config
_vendor.quack.gemm_default_epi _vendor.quack.gemm_sm100 _vendor.quack.gemm_sm120
_vendor.quack.gemm_sm80 _vendor.quack.gemm_sm90 _vendor.quack.gemm_tvm_ffi_utils
_vendor.quack.layout_utils _vendor.quack.mx_utils _vendor.quack.pipeline
_vendor.quack.reduce _vendor.quack.reduction_base _vendor.quack.rmsnorm
_vendor.quack.rmsnorm_config _vendor.quack.rounding _vendor.quack.sm100_utils
_vendor.quack.sm80_utils _vendor.quack.sm90_utils _vendor.quack.tile_scheduler
_vendor.quack.trace _vendor.quack.utils _vendor.quack.varlen_utils _vmap_internals
_weights_only_unpickler accelerator accelerator._utils accelerator.graphs
accelerator.memory amp amp.autocast_mode amp.grad_scaler ao autograd autograd._functions
autograd._functions.tensor autograd._functions.utils autograd.anomaly_mode
autograd.forward_ad autograd.function autograd.functional autograd.grad_mode
autograd.gradcheck autograd.graph autograd.profiler autograd.profiler_legacy
autograd.profiler_util autograd.variable backends backends._coreml
backends._coreml.preprocess backends._nnapi backends._nnapi.prepare
backends._nnapi.serializer backends.cpu backends.cuda backends.cudnn backends.cudnn.rnn
backends.cusparselt backends.kleidiai backends.mha backends.miopen backends.mkl
backends.mkldnn backends.mps backends.nnpack backends.openmp backends.opt_einsum
backends.python_native backends.quantized backends.xeon backends.xeon.run_cpu
backends.xnnpack compiler compiler._cache compiler.config contrib contrib._tensorboard_vis
cpu cpu.amp cpu.amp.autocast_mode cpu.amp.grad_scaler cuda distributed distributions
distributions.bernoulli distributions.beta distributions.binomial
distributions.categorical distributions.cauchy distributions.chi2
distributions.constraint_registry distributions.constraints
distributions.continuous_bernoulli distributions.dirichlet distributions.distribution
distributions.exp_family distributions.exponential distributions.fishersnedecor
distributions.gamma distributions.generalized_pareto distributions.geometric
distributions.gumbel distributions.half_cauchy distributions.half_normal
distributions.independent distributions.inverse_gamma distributions.kl
distributions.kumaraswamy distributions.laplace distributions.lkj_cholesky
distributions.log_normal distributions.logistic_normal
distributions.lowrank_multivariate_normal distributions.mixture_same_family
distributions.multinomial distributions.multivariate_normal
distributions.negative_binomial distributions.normal distributions.one_hot_categorical
distributions.pareto distributions.poisson distributions.relaxed_bernoulli
distributions.relaxed_categorical distributions.studentT
distributions.transformed_distribution distributions.transforms distributions.uniform
distributions.utils distributions.von_mises distributions.weibull distributions.wishart
export fft func func._random functional futures fx hub jit jit._async jit._await
jit._builtins jit._check jit._dataclass_impls jit._decomposition_utils jit._decompositions
jit._freeze jit._fuser jit._ir_utils jit._logging jit._monkeytype_config jit._passes
jit._passes._property_propagation jit._pickle jit._recursive jit._script
jit._serialization jit._shape_functions jit._state jit._trace jit.annotations jit.frontend
jit.generate_bytecode jit.mobile jit.quantized jit.supported_ops
jit.unsupported_tensor_ops library linalg masked masked._docs masked._ops
masked.maskedtensor masked.maskedtensor._ops_refs masked.maskedtensor.binary
masked.maskedtensor.core masked.maskedtensor.creation masked.maskedtensor.passthrough
masked.maskedtensor.reductions masked.maskedtensor.unary monitor mps mps.event
mps.profiler mtia multiprocessing multiprocessing._atfork multiprocessing.pool
multiprocessing.queue multiprocessing.reductions multiprocessing.spawn nativert
nativert.backends nativert.backends._lower_utils nativert.backends._lowered_aoti_module
nested nested._internal nested._internal.nested_int nested._internal.nested_tensor
nested._internal.ops nested._internal.sdpa nn nn._reduction nn.attention nn.attention._fa3
nn.attention._fa4 nn.attention._registry nn.attention._utils nn.attention.bias
nn.attention.experimental nn.attention.experimental._paged_attention
nn.attention.experimental._scaled_dot_product_attention_quantized
nn.attention.flex_attention nn.attention.varlen nn.backends nn.backends.thnn
nn.common_types nn.cpp nn.functional nn.grad nn.init nn.intrinsic nn.intrinsic.modules
nn.intrinsic.modules.fused nn.intrinsic.qat nn.intrinsic.qat.modules
nn.intrinsic.qat.modules.conv_fused nn.intrinsic.qat.modules.linear_fused
nn.intrinsic.qat.modules.linear_relu nn.intrinsic.quantized nn.intrinsic.quantized.dynamic
nn.intrinsic.quantized.dynamic.modules nn.intrinsic.quantized.dynamic.modules.linear_relu
nn.intrinsic.quantized.modules nn.intrinsic.quantized.modules.bn_relu
nn.intrinsic.quantized.modules.conv_relu nn.intrinsic.quantized.modules.linear_relu
nn.modules nn.modules._functions nn.modules.activation nn.modules.adaptive
nn.modules.batchnorm nn.modules.channelshuffle nn.modules.container nn.modules.conv
nn.modules.distance nn.modules.dropout nn.modules.flatten nn.modules.fold
nn.modules.instancenorm nn.modules.lazy nn.modules.linear nn.modules.linear_cross_entropy
nn.modules.linear_cross_entropy_options nn.modules.loss nn.modules.module
nn.modules.normalization nn.modules.padding nn.modules.pixelshuffle nn.modules.pooling
nn.modules.rnn nn.modules.sparse nn.modules.transformer nn.modules.upsampling
nn.modules.utils nn.parallel nn.parallel._functions nn.parallel.comm
nn.parallel.data_parallel nn.parallel.distributed nn.parallel.parallel_apply
nn.parallel.replicate nn.parallel.scatter_gather nn.parameter nn.qat nn.qat.dynamic
nn.qat.dynamic.modules nn.qat.dynamic.modules.linear nn.qat.modules nn.qat.modules.conv
nn.qat.modules.embedding_ops nn.qat.modules.linear nn.quantizable nn.quantizable.modules
nn.quantizable.modules.activation nn.quantizable.modules.rnn nn.quantized
nn.quantized._reference nn.quantized._reference.modules
nn.quantized._reference.modules.conv nn.quantized._reference.modules.linear
nn.quantized._reference.modules.rnn nn.quantized._reference.modules.sparse
nn.quantized._reference.modules.utils nn.quantized.dynamic nn.quantized.dynamic.modules
nn.quantized.dynamic.modules.conv nn.quantized.dynamic.modules.linear
nn.quantized.dynamic.modules.rnn nn.quantized.functional nn.quantized.modules
nn.quantized.modules.activation nn.quantized.modules.batchnorm nn.quantized.modules.conv
nn.quantized.modules.dropout nn.quantized.modules.embedding_ops
nn.quantized.modules.functional_modules nn.quantized.modules.linear
nn.quantized.modules.normalization nn.quantized.modules.rnn nn.quantized.modules.utils
nn.utils nn.utils._deprecation_utils nn.utils._expanded_weights
nn.utils._expanded_weights.conv_expanded_weights nn.utils._expanded_weights.conv_utils
nn.utils._expanded_weights.embedding_expanded_weights
nn.utils._expanded_weights.expanded_weights_impl
nn.utils._expanded_weights.expanded_weights_utils
nn.utils._expanded_weights.group_norm_expanded_weights
nn.utils._expanded_weights.instance_norm_expanded_weights
nn.utils._expanded_weights.layer_norm_expanded_weights
nn.utils._expanded_weights.linear_expanded_weights nn.utils._named_member_accessor
nn.utils._per_sample_grad nn.utils.clip_grad nn.utils.convert_parameters nn.utils.fusion
nn.utils.init nn.utils.memory_format nn.utils.parametrizations nn.utils.parametrize
nn.utils.prune nn.utils.rnn nn.utils.spectral_norm nn.utils.stateless nn.utils.weight_norm
numa numa.binding onnx optim optim._adafactor optim._functional optim._multi_tensor
optim._muon optim._stateless optim.adadelta optim.adagrad optim.adam optim.adamax
optim.adamw optim.asgd optim.lbfgs optim.lr_scheduler optim.nadam optim.optimizer
optim.radam optim.rmsprop optim.rprop optim.sgd optim.sparse_adam optim.swa_utils
overrides package profiler profiler._chrome_trace_export profiler._cupti_monitor
profiler._cupti_monitor_trace profiler._memory_profiler profiler._pattern_matcher
profiler._trace_validator profiler._utils profiler.itt profiler.profiler
profiler.python_tracer quantization quasirandom random return_types serialization signal
signal.windows signal.windows.windows sparse sparse._semi_structured_conversions
sparse._semi_structured_ops sparse._triton_ops sparse._triton_ops_meta
sparse.semi_structured special storage testing torch_version types utils
utils._appending_byte_serializer utils._config_module utils._content_store
utils._contextlib utils._cpp_embed_headers utils._cpp_extension_versioner
utils._cuda_debug utils._cxx_pytree utils._debug_mode utils._debug_mode._calls
utils._debug_mode._mode utils._debug_mode._utils utils._device utils._dtype_abbrs
utils._exposed_in utils._filelock utils._foreach_utils utils._functools
utils._get_clean_triton utils._helion utils._import_utils utils._inspect utils._mode_utils
utils._ordered_set utils._pallas utils._python_dispatch utils._pytree
utils._runtime_estimation utils._stats utils._strobelight
utils._strobelight.cli_function_profiler utils._sympy utils._sympy.functions
utils._sympy.interp utils._sympy.numbers utils._sympy.printers utils._sympy.reference
utils._sympy.singleton_int utils._sympy.solve utils._sympy.symbol
utils._sympy.value_ranges utils._thunk utils._traceback utils._triton utils._typing_utils
utils._zip utils.backcompat utils.backend_registration utils.benchmark
utils.benchmark.examples utils.benchmark.examples.compare utils.benchmark.examples.fuzzer
utils.benchmark.examples.op_benchmark utils.benchmark.examples.simple_timeit
utils.benchmark.examples.spectral_ops_fuzz_test utils.benchmark.op_fuzzers
utils.benchmark.op_fuzzers.binary utils.benchmark.op_fuzzers.sparse_binary
utils.benchmark.op_fuzzers.sparse_unary utils.benchmark.op_fuzzers.spectral
utils.benchmark.op_fuzzers.unary utils.benchmark.utils utils.benchmark.utils._stubs
utils.benchmark.utils.common utils.benchmark.utils.compare utils.benchmark.utils.compile
utils.benchmark.utils.cpp_jit utils.benchmark.utils.fuzzer
utils.benchmark.utils.sparse_fuzzer utils.benchmark.utils.timer
utils.benchmark.utils.valgrind_wrapper
utils.benchmark.utils.valgrind_wrapper.timer_interface utils.bundled_inputs
utils.checkpoint utils.collect_env utils.cpp_backtrace utils.cpp_extension utils.data
utils.data._utils utils.data._utils.collate utils.data._utils.fetch
utils.data._utils.pin_memory utils.data._utils.signal_handling utils.data._utils.worker
utils.data.backward_compatibility utils.data.dataloader utils.data.datapipes
utils.data.datapipes._decorator utils.data.datapipes._hook_iterator
utils.data.datapipes._typing utils.data.datapipes.dataframe
utils.data.datapipes.dataframe.dataframe_wrapper utils.data.datapipes.dataframe.dataframes
utils.data.datapipes.dataframe.datapipes utils.data.datapipes.dataframe.structures
utils.data.datapipes.datapipe utils.data.datapipes.gen_pyi utils.data.datapipes.iter
utils.data.datapipes.iter.callable utils.data.datapipes.iter.combinatorics
utils.data.datapipes.iter.combining utils.data.datapipes.iter.filelister
utils.data.datapipes.iter.fileopener utils.data.datapipes.iter.grouping
utils.data.datapipes.iter.routeddecoder utils.data.datapipes.iter.selecting
utils.data.datapipes.iter.sharding utils.data.datapipes.iter.streamreader
utils.data.datapipes.iter.utils utils.data.datapipes.map utils.data.datapipes.map.callable
utils.data.datapipes.map.combinatorics utils.data.datapipes.map.combining
utils.data.datapipes.map.grouping utils.data.datapipes.map.utils
utils.data.datapipes.utils utils.data.datapipes.utils.common
utils.data.datapipes.utils.decoder utils.data.datapipes.utils.snapshot utils.data.dataset
utils.data.distributed utils.data.graph utils.data.graph_settings utils.data.sampler
utils.debug_log utils.deterministic utils.dlpack utils.file_baton utils.flop_counter
utils.hipify utils.hipify.constants utils.hipify.cuda_to_hip_mappings
utils.hipify.hipify_python utils.hipify.version utils.hooks utils.jit
utils.jit.log_extract utils.mkldnn utils.mobile_optimizer utils.model_dump
utils.model_dump.__main__ utils.model_zoo utils.module_tracker utils.serialization
utils.serialization.config utils.show_pickle utils.tensorboard
utils.tensorboard._convert_np utils.tensorboard._embedding utils.tensorboard._onnx_graph
utils.tensorboard._proto_graph utils.tensorboard._pytorch_graph utils.tensorboard._utils
utils.tensorboard.summary utils.tensorboard.writer utils.throughput_benchmark utils.viz
utils.viz._cycles utils.weak version xpu"""
OPEN_MODULES = """
_C _dynamo _export _functorch _higher_order_ops _inductor _native _numpy _prims _refs
_subclasses _logging ao cuda distributed export fx mtia onnx package quantization testing
xpu"""
