# The CUDA kernels: *.cu of the rooms by nvcc, the rest in C. Only where there is an nvcc.
KERNELS = \
    kernels/algorithms/gather.cu \
    kernels/algorithms/histogram.cu \
    kernels/algorithms/mandelbrot.cu \
    kernels/algorithms/nbody.cu \
    kernels/algorithms/reduce.cu \
    kernels/algorithms/scan.cu \
    kernels/algorithms/sort_block.cu \
    kernels/algorithms/spmv.cu \
    kernels/algorithms/stencil.cu \
    kernels/algorithms/transpose.cu \
    kernels/base/fill.cu \
    kernels/calibrate/bulk.cu \
    kernels/calibrate/calibrate.cu \
    kernels/calibrate/code.cu \
    kernels/calibrate/memory.cu \
    kernels/calibrate/pipes.cu \
    kernels/calibrate/streaming.cu \
    kernels/calibrate/tasks.cu \
    kernels/calibrate/wgmma.cu \
    kernels/deep_learning/conv_bn.cu \
    kernels/deep_learning/flash_attention.cu \
    kernels/deep_learning/gemm_cp_async.cu \
    kernels/deep_learning/gemm_tasks.cu \
    kernels/deep_learning/gemm_tensor.cu \
    kernels/deep_learning/gemm_tiled.cu \
    kernels/deep_learning/gemm_wgmma.cu \
    kernels/deep_learning/layernorm.cu \
    kernels/deep_learning/rnn.cu \
    kernels/deep_learning/softmax.cu \
    kernels/executor/executor.cu \
    kernels/executor/lstm.cu \
    kernels/executor/network.cu \
    kernels/micro/atomics.cu \
    kernels/micro/chase.cu \
    kernels/micro/cp_async_pipeline.cu \
    kernels/micro/empty.cu \
    kernels/micro/fma.cu \
    kernels/micro/peer.cu \
    kernels/micro/produce_consume.cu \
    kernels/micro/spin.cu \
    kernels/micro/spin_phases.cu \
    kernels/micro/stream.cu
# Kernels that launch kernels: relocatable device code, linked with CUDA's device runtime, where that is there.
DEVICE_LINKED_KERNELS = \
    kernels/children/child_tree.cu \
    kernels/children/mandelbrot_adaptive.cu \
    kernels/children/mergesort.cu \
    kernels/children/quicksort.cu
DEVICE_LINKED_INCLUDES = \
    kernels/algorithms/mandelbrot.cuh kernels/children/child_tree.h kernels/children/flat_twin.cuh \
    kernels/children/sort_small.cuh kernels/children/work_queue.cuh
KERNEL_INCLUDES = \
    kernels/base/block_reduce.cuh kernels/base/gpu_atomics.cuh kernels/base/kernel.cuh kernels/base/launch.h \
    kernels/base/persistent.cuh kernels/base/reference.h kernels/base/registers.cuh kernels/base/spin.cuh \
    kernels/base/tensor.cuh kernels/calibrate/calibrate.h kernels/deep_learning/gemm.cuh \
    kernels/executor/executor.cuh kernels/executor/executor.h kernels/executor/network.cuh \
    kernels/executor/network.h kernels/library.h sim/base/error.h
CALIBRATE_INCLUDES = kernels/calibrate/bulk.h kernels/calibrate/code.h kernels/calibrate/memory.h \
    kernels/calibrate/pipes.h kernels/calibrate/streaming.h kernels/calibrate/tasks.h
KERNEL_C_FILES = \
    kernels/executor/executor_image.c kernels/executor/executor.h \
    kernels/library.c kernels/library.h \
    kernels/base/reference.c kernels/base/reference.h
EXTRA_DIST += $(DEVICE_LINKED_KERNELS) $(DEVICE_LINKED_INCLUDES) $(KERNELS) $(KERNEL_INCLUDES) $(CALIBRATE_INCLUDES) \
    $(KERNEL_C_FILES) kernels/base/wgmma.cuh kernels/children/child_tree_absent.c \
    kernels/README.md kernels/algorithms/README.md kernels/base/README.md kernels/calibrate/README.md \
    kernels/children/README.md kernels/deep_learning/README.md kernels/executor/README.md kernels/micro/README.md

if HAVE_NVCC
noinst_LIBRARIES += kernels/libkernels.a
kernels_libkernels_a_SOURCES = $(KERNEL_C_FILES)
kernels_libkernels_a_LIBADD = $(KERNELS:.cu=.o)
kernels_libkernels_a_DEPENDENCIES = $(KERNELS:.cu=.o)
CLEANFILES += $(KERNELS:.cu=.o)
if HAVE_CUDADEVRT
kernels_libkernels_a_LIBADD += $(DEVICE_LINKED_KERNELS:.cu=.o) kernels/device_link.o
kernels_libkernels_a_DEPENDENCIES += $(DEVICE_LINKED_KERNELS:.cu=.o) kernels/device_link.o
CLEANFILES += $(DEVICE_LINKED_KERNELS:.cu=.o) kernels/device_link.o
else
kernels_libkernels_a_SOURCES += kernels/children/child_tree_absent.c
endif

# Machine code for Hopper, and PTX that the driver of any other supported GPU compiles: NVCC_ARCH says so.
# No C++ library is needed: programs, all C, link kernels/libkernels.a sim/libsim.a $(CUDA_LIBS) -lm.
KERNEL_NVCCFLAGS = -std=c++20 -O3 -Werror all-warnings \
    -Xcompiler -Wall,-Wextra,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics
AM_V_NVCC = $(am__v_NVCC_@AM_V@)
am__v_NVCC_ = $(am__v_NVCC_@AM_DEFAULT_V@)
am__v_NVCC_0 = @echo "  NVCC    " $@;
am__v_NVCC_1 =

NVCC_COMPILE = $(NVCC) -I$(top_srcdir) $(KERNEL_NVCCFLAGS) $(NVCCFLAGS) -c

SUFFIXES += .cu
.cu.o:
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC_COMPILE) $(NVCC_ARCH) -o $@ $<
# WGMMA is no part of plain sm_90: NVCC_ARCH_SPECIFIC is NVCC_ARCH with sm_90a for that.
kernels/deep_learning/gemm_wgmma.o kernels/calibrate/wgmma.o: kernels/base/wgmma.cuh
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC_COMPILE) $(NVCC_ARCH_SPECIFIC) -o $@ $(srcdir)/$(@:.o=.cu)
kernels/algorithms/mandelbrot.o: kernels/algorithms/mandelbrot.cuh
$(DEVICE_LINKED_KERNELS:.cu=.o): $(KERNEL_INCLUDES) $(DEVICE_LINKED_INCLUDES)
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC_COMPILE) -rdc=true $(NVCC_ARCH_LINKED) -o $@ $(srcdir)/$(@:.o=.cu)
kernels/children/child_tree.o: kernels/children/child_tree.cu
kernels/children/mandelbrot_adaptive.o: kernels/children/mandelbrot_adaptive.cu
kernels/children/mergesort.o: kernels/children/mergesort.cu
kernels/children/quicksort.o: kernels/children/quicksort.cu
kernels/device_link.o: $(DEVICE_LINKED_KERNELS:.cu=.o)
	$(AM_V_NVCC)$(NVCC) $(NVCC_ARCH_LINKED) -dlink -o $@ $(DEVICE_LINKED_KERNELS:.cu=.o) -lcudadevrt
kernels/deep_learning/gemm_wgmma.o: kernels/deep_learning/gemm_wgmma.cu
kernels/calibrate/wgmma.o: kernels/calibrate/wgmma.cu
$(KERNELS:.cu=.o): $(KERNEL_INCLUDES)
kernels/calibrate/bulk.o kernels/calibrate/code.o kernels/calibrate/memory.o kernels/calibrate/pipes.o \
    kernels/calibrate/wgmma.o: $(CALIBRATE_INCLUDES)

# Launches a list of cases for Nsight Compute; traces/profiles/record uses it.
noinst_PROGRAMS += kernels/profile
kernels_profile_LDADD = kernels/libkernels.a sim/libsim.a $(CUDA_LIBS) -lm
endif
