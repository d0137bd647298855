# The CUDA kernels: kernels/*.cu by nvcc, the rest in C. Only where there is an nvcc.
KERNELS = \
    kernels/atomics.cu \
    kernels/calibrate/calibrate.cu \
    kernels/calibrate/bulk.cu \
    kernels/calibrate/code.cu \
    kernels/calibrate/memory.cu \
    kernels/calibrate/pipes.cu \
    kernels/calibrate/tasks.cu \
    kernels/calibrate/wgmma.cu \
    kernels/chase.cu \
    kernels/conv_bn.cu \
    kernels/cp_async_pipeline.cu \
    kernels/empty.cu \
    kernels/executor.cu \
    kernels/fill.cu \
    kernels/flash_attention.cu \
    kernels/fma.cu \
    kernels/gather.cu \
    kernels/gemm_cp_async.cu \
    kernels/gemm_tasks.cu \
    kernels/gemm_tensor.cu \
    kernels/gemm_tiled.cu \
    kernels/gemm_wgmma.cu \
    kernels/histogram.cu \
    kernels/layernorm.cu \
    kernels/lstm.cu \
    kernels/mandelbrot.cu \
    kernels/nbody.cu \
    kernels/network.cu \
    kernels/peer.cu \
    kernels/produce_consume.cu \
    kernels/reduce.cu \
    kernels/rnn.cu \
    kernels/scan.cu \
    kernels/softmax.cu \
    kernels/sort_block.cu \
    kernels/spin.cu \
    kernels/spin_phases.cu \
    kernels/spmv.cu \
    kernels/stencil.cu \
    kernels/stream.cu \
    kernels/transpose.cu
# Kernels that launch kernels: relocatable device code, linked with CUDA's device runtime, where that is there.
DEVICE_LINKED_KERNELS = \
    kernels/child_tree.cu \
    kernels/mandelbrot_adaptive.cu \
    kernels/mergesort.cu \
    kernels/quicksort.cu
DEVICE_LINKED_INCLUDES = kernels/child_tree.h kernels/flat_twin.cuh kernels/mandelbrot.cuh kernels/sort_small.cuh kernels/work_queue.cuh
KERNEL_INCLUDES = kernels/calibrate/calibrate.h kernels/kernel.cuh kernels/block_reduce.cuh kernels/gemm.cuh \
    kernels/executor.cuh kernels/executor.h kernels/network.cuh kernels/network.h kernels/gpu_atomics.cuh kernels/persistent.cuh kernels/launch.h kernels/library.h \
    kernels/reference.h kernels/registers.cuh kernels/spin.cuh kernels/tensor.cuh sim/base/error.h
CALIBRATE_INCLUDES = kernels/calibrate/bulk.h kernels/calibrate/code.h kernels/calibrate/memory.h \
    kernels/calibrate/pipes.h kernels/calibrate/tasks.h
KERNEL_C_FILES = \
    kernels/executor_image.c kernels/executor.h \
    kernels/library.c kernels/library.h \
    kernels/reference.c kernels/reference.h
EXTRA_DIST += $(DEVICE_LINKED_KERNELS) $(DEVICE_LINKED_INCLUDES) kernels/child_tree_absent.c $(KERNELS) $(KERNEL_INCLUDES) $(CALIBRATE_INCLUDES) kernels/wgmma.cuh \
    $(KERNEL_C_FILES) kernels/README.md kernels/calibrate/README.md

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
kernels_libkernels_a_SOURCES += kernels/child_tree_absent.c
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

SUFFIXES = .cu
.cu.o:
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC_COMPILE) $(NVCC_ARCH) -o $@ $<
# WGMMA is no part of plain sm_90: NVCC_ARCH_SPECIFIC is NVCC_ARCH with sm_90a for that.
kernels/gemm_wgmma.o kernels/calibrate_wgmma.o: kernels/wgmma.cuh
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC_COMPILE) $(NVCC_ARCH_SPECIFIC) -o $@ $(srcdir)/$(@:.o=.cu)
kernels/mandelbrot.o: kernels/mandelbrot.cuh
$(DEVICE_LINKED_KERNELS:.cu=.o): $(KERNEL_INCLUDES) $(DEVICE_LINKED_INCLUDES)
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC_COMPILE) -rdc=true $(NVCC_ARCH_LINKED) -o $@ $(srcdir)/$(@:.o=.cu)
kernels/child_tree.o: kernels/child_tree.cu
kernels/mandelbrot_adaptive.o: kernels/mandelbrot_adaptive.cu
kernels/mergesort.o: kernels/mergesort.cu
kernels/quicksort.o: kernels/quicksort.cu
kernels/device_link.o: $(DEVICE_LINKED_KERNELS:.cu=.o)
	$(AM_V_NVCC)$(NVCC) $(NVCC_ARCH_LINKED) -dlink -o $@ $(DEVICE_LINKED_KERNELS:.cu=.o) -lcudadevrt
kernels/gemm_wgmma.o: kernels/gemm_wgmma.cu
kernels/calibrate_wgmma.o: kernels/calibrate/wgmma.cu
$(KERNELS:.cu=.o): $(KERNEL_INCLUDES)
kernels/calibrate_bulk.o kernels/calibrate_code.o kernels/calibrate_memory.o kernels/calibrate_pipes.o \
    kernels/calibrate_wgmma.o: $(CALIBRATE_INCLUDES)

# Launches a list of cases for Nsight Compute; traces/profiles/record uses it.
noinst_PROGRAMS += kernels/profile
kernels_profile_LDADD = kernels/libkernels.a sim/libsim.a $(CUDA_LIBS) -lm
endif
