# The simulator: no file format, no database, no terminal, no CUDA.
noinst_LIBRARIES += sim/libsim.a
sim_libsim_a_SOURCES = \
    sim/build.c sim/build.h sim/range.c sim/range.h sim/task_programs.c sim/task_programs.h sim/simulate.c sim/simulate.h \
    sim/base/text.c sim/base/text.h sim/base/array.c sim/base/array.h sim/base/sort.c sim/base/sort.h \
    sim/base/error.c sim/base/error.h sim/base/fair_share.c sim/base/fair_share.h sim/base/heap.c \
    sim/base/hash.h sim/base/heap.h sim/base/named_table.c sim/base/named_table.h \
    sim/collectives/choice.c sim/collectives/choice.h sim/collectives/cost.c sim/collectives/cost.h \
    sim/check/check.c sim/check/check.h sim/check/line.c sim/check/line.h sim/check/memory.c sim/check/memory.h sim/check/misuse.c sim/check/misuse.h \
    sim/check/order.c sim/check/order.h sim/check/dependences.h sim/check/order_begin.c sim/check/order_dependences.c sim/check/order_gpu.c sim/check/order_memory.c sim/check/order_parts.h sim/check/segments.c sim/check/steps.c sim/check/steps.h sim/check/witness.c sim/check/witness.h \
    sim/devices/device.c sim/devices/device.h sim/devices/device_keys.c sim/devices/key_rows.h sim/devices/keys.c \
    sim/devices/kernel_bound.c sim/devices/kernel_bound.h sim/devices/keys.h sim/devices/links.c sim/devices/links.h sim/devices/occupancy.c sim/devices/occupancy.h \
    sim/frameworks/framework.h sim/frameworks/framework_keys.c \
    sim/gpu/arbitration.c sim/gpu/arbitration.h sim/gpu/batches.c sim/gpu/batches.h sim/gpu/block_progress.c \
    sim/gpu/block_progress.h sim/gpu/clusters.c sim/gpu/clusters.h sim/gpu/collective_kernel.c \
    sim/gpu/collective_kernel.h sim/gpu/collective_move.c sim/gpu/collective_move.h sim/gpu/copy_engine.c \
    sim/gpu/copy_engine.h sim/gpu/driver_kernel.c sim/gpu/driver_kernel.h sim/gpu/ends_apart.c sim/gpu/ends_apart.h sim/gpu/exclusive_copy.c \
    sim/gpu/exclusive_copy.h sim/gpu/grid.c sim/gpu/grid.h sim/gpu/grid_reset.c sim/gpu/grid_reset.h sim/gpu/link_share.c sim/gpu/link_share.h \
    sim/gpu/grid_sync.c sim/gpu/grid_sync.h sim/gpu/peer_kernel.c \
    sim/gpu/peer_kernel.h sim/gpu/placement.c sim/gpu/placement.h sim/gpu/progress_limit.c sim/gpu/progress_limit.h \
    sim/gpu/progress_solve.c sim/gpu/progress_solve.h sim/gpu/sm.c sim/gpu/sm_partitions.c sim/gpu/sm_partitions.h sim/gpu/time_slices.c sim/gpu/time_slices.h sim/gpu/sm.h \
    sim/gpu/steady_state.c sim/gpu/steady_state.h sim/gpu/task_events.c sim/gpu/task_events.h sim/gpu/task_kernel.c sim/gpu/task_kernel.h \
    sim/gpu/work_distributor.c sim/gpu/work_distributor.h \
    sim/machine/durations.c sim/machine/durations.h sim/machine/engine.c \
    sim/machine/failure.c sim/machine/failure.h sim/machine/free_lists.c sim/machine/priority.c sim/machine/free_lists.h sim/machine/priority.h \
    sim/machine/gpu_state.h sim/machine/machine.h sim/machine/options.h sim/machine/rules.c sim/machine/rules.h sim/machine/staging.c sim/machine/staging.h sim/machine/stream_state.h \
    sim/replay/equivalent.c sim/replay/equivalent.h \
    sim/replay/block_ends.c sim/replay/block_ends.h sim/replay/blocked_calls.c sim/replay/edges.c sim/replay/graph_launch.c sim/replay/graph_launch.h sim/replay/inferred_waits.c \
    sim/replay/recorded_graphs.c sim/replay/recorded_graphs.h sim/replay/isolated_durations.c sim/replay/isolated_durations.h sim/replay/learned.c sim/replay/learned.h sim/replay/launch_gaps.c sim/replay/launch_gaps.h sim/replay/held_calls.c sim/replay/held_calls.h sim/replay/neighbours.c sim/replay/neighbours.h sim/replay/replay.c sim/replay/replay.h \
    sim/batching/batch_engine.c sim/batching/batch_engine.h sim/batching/batch_policy.h sim/batching/pass_cost.c sim/batching/pass_cost.h \
    sim/batching/policies.c sim/batching/token_requests.c sim/batching/token_requests.h \
    sim/serve/arrivals.c sim/serve/arrivals.h sim/serve/dispatcher.c sim/serve/load.h sim/serve/policies.c sim/serve/policy.h \
    sim/serve/policy_fifo.c sim/serve/policy_gate.c sim/serve/policy_orion.c sim/serve/policy_reset.c sim/serve/requests.c sim/serve/requests.h \
    sim/serve/serving.h sim/serve/slices.c sim/serve/slices.h \
    sim/schedule/form.h sim/schedule/form_launches.c sim/schedule/form_rprogram.c \
    sim/schedule/forms.c sim/schedule/operator_graph.c sim/schedule/operator_graph.h sim/schedule/plan.c sim/schedule/plan.h \
    sim/schedule/plan_check.c sim/schedule/policies.c sim/schedule/policy.h sim/schedule/policy_list.c \
    sim/schedule/policy_round_robin.c sim/schedule/policy_wavefront.c \
    sim/stream/api_call.c sim/stream/api_call.h sim/stream/call_times.c sim/stream/call_times.h \
    sim/stream/child_launch.c sim/stream/child_launch.h sim/stream/child_state.c sim/stream/child_state.h \
    sim/stream/graph.c sim/stream/graph.h sim/stream/host_noise.c sim/stream/host_noise.h sim/stream/host_thread.c \
    sim/stream/host_thread.h sim/stream/hw_queue.c sim/stream/hw_queue.h sim/stream/launch_order.c \
    sim/stream/launch_order.h sim/stream/links.c sim/stream/links.h sim/stream/operation.c sim/stream/operation.h \
    sim/stream/programmatic.c sim/stream/programmatic.h sim/stream/stalled.c sim/stream/stalled.h \
    sim/stream/stream.c sim/stream/stream.h sim/stream/stream_order.c sim/stream/stream_order.h sim/stream/waiting.c \
    sim/stream/waiting.h \
    sim/tasks/alone.c sim/tasks/atomic.h sim/tasks/counters.c sim/tasks/deadlock.c sim/tasks/policies.c sim/tasks/policies.h \
    sim/tasks/policy.h sim/tasks/policy_ready.c sim/tasks/thieves.c sim/tasks/thieves.h sim/tasks/policy_steal.c sim/tasks/roofline.c sim/tasks/run.c sim/tasks/run.h sim/tasks/tasks.c sim/tasks/tasks.h \
    sim/warp/blocks.c sim/warp/control_flow.c sim/warp/decode.c sim/warp/execute.c sim/warp/internal.h \
    sim/warp/issue.c sim/warp/kernel_model.c sim/warp/kernel_model.h sim/warp/l2_reuse.c sim/warp/l2_reuse.h \
    sim/warp/launch.c sim/warp/launch.h sim/warp/launch_types.h sim/warp/memory.c sim/warp/memory.h \
    sim/warp/in_flight.c sim/warp/misses.c sim/warp/paths.c sim/warp/paths.h sim/warp/rare_paths.c sim/warp/register_banks.c sim/warp/scheduler.c sim/warp/scheduler.h sim/warp/sm_state.c \
    sim/warp/sync.c sim/warp/waiting.c \
    sim/workload/child_launches.c sim/workload/child_launches.h \
    sim/workload/collective.c sim/workload/collective.h sim/workload/collective_check.c sim/workload/collective_parts.c sim/workload/group.h \
    sim/workload/allocations.c sim/workload/allocations.h sim/workload/block_cost.c sim/workload/block_cost.h sim/workload/critical_path.c sim/workload/critical_path.h sim/workload/executables.c sim/workload/executables.h sim/workload/probe.c sim/workload/probe.h \
    sim/workload/processes.c sim/workload/sharing.c sim/workload/sharing.h sim/workload/processes.h sim/workload/plain_fields.h sim/workload/program.c sim/workload/program.h sim/workload/ranges.c sim/workload/ranges.h sim/workload/recording.c sim/workload/recording.h sim/workload/range_calls.c sim/workload/range_calls.h \
    sim/workload/task_check.c sim/workload/task_check.h sim/workload/task_graph.c sim/workload/task_graph.h sim/workload/task_graph_copy.c \
    sim/workload/task_order.c sim/workload/task_order.h sim/workload/task_reads.c \
    sim/workload/host_waits.c sim/workload/host_waits.h sim/workload/kind_names.c sim/workload/tensor.c sim/workload/tensor.h sim/workload/workload.c sim/workload/workload.h sim/workload/workload_check.c sim/workload/workload_copy.c \
    sim/baseline/fit.c sim/baseline/fit.h \
    sim/baseline/profiler.c sim/baseline/profiler.h sim/baseline/recording_cost.c \
    sim/baseline/kept_work.c sim/baseline/kept_work.h sim/baseline/recording_cost.h sim/baseline/stated.c sim/baseline/startup.c sim/baseline/startup.h sim/baseline/stated.h sim/baseline/steady.c sim/baseline/steady.h sim/baseline/steps.c \
    sim/baseline/steps.h sim/baseline/timeline.c sim/baseline/timeline.h \
    sim/changes/change.h sim/changes/change_accumulate.c sim/changes/change_async.c \
    sim/changes/change_collective_sms.c sim/changes/change_ddp.c sim/changes/change_delay.c \
    sim/changes/change_device.c sim/changes/change_graph.c sim/changes/change_grid.c \
    sim/changes/change_grid.h sim/changes/change_kernel.c sim/changes/change_lock.c sim/changes/change_share.c sim/changes/change_no_readback.c \
    sim/changes/change_pinned.c sim/changes/change_prefetch.c sim/changes/change_priority.c \
    sim/changes/change_sizes.c sim/shapes/convolution.c sim/shapes/convolution.h sim/shapes/inputs.c sim/shapes/inputs.h sim/shapes/kernel_time.c sim/shapes/kernel_time.h \
    sim/shapes/precision.c sim/shapes/precision.h sim/shapes/profiled_work.c sim/shapes/profiled_work.h sim/shapes/product.c sim/shapes/product.h sim/shapes/roles.c sim/shapes/roles.h sim/shapes/sizes.c sim/shapes/sizes.h \
    sim/shapes/roofline.c sim/shapes/roofline.h sim/shapes/work.c sim/shapes/work.h sim/changes/change_shape.c sim/changes/change_types.c sim/changes/resize.c sim/changes/resize.h sim/shapes/types.c sim/shapes/types.h sim/shapes/votes.c sim/shapes/votes.h sim/shapes/widths.c sim/shapes/widths.h sim/shapes/held_memory.c sim/shapes/held_memory.h sim/shapes/memory.c sim/shapes/memory.h sim/shapes/result_bytes.c sim/shapes/result_bytes.h sim/shapes/caching_allocator.c sim/shapes/caching_allocator.h sim/shapes/reserved_memory.c sim/shapes/reserved_memory.h sim/shapes/first_step.c sim/shapes/first_step.h \
    sim/changes/change_streams.c sim/changes/changes.c sim/changes/changes.h \
    sim/rewrite/without.c sim/rewrite/without.h sim/rewrite/call_kinds.c sim/rewrite/call_kinds.h sim/rewrite/capture.c \
    sim/rewrite/data_flow.c sim/rewrite/data_flow.h sim/rewrite/assign_streams.c sim/rewrite/assign_streams.h \
    sim/rewrite/assign_graph.c sim/rewrite/assign_graph.h \
    sim/rewrite/assign_targets.c sim/rewrite/assign_targets.h sim/rewrite/graph_nodes.c \
    sim/rewrite/graph_nodes.h sim/rewrite/graph_writer.c \
    sim/rewrite/graph_writer.h sim/rewrite/rebuild.c \
    sim/rewrite/rebuild.h sim/rewrite/repeats.c sim/rewrite/repeats.h sim/rewrite/repeats_join.c \
    sim/rewrite/scenario.c sim/rewrite/tokens.c sim/rewrite/tokens.h sim/rewrite/scenario.h \
    sim/training/gradients.c sim/training/gradients.h \
    sim/training/ranks.c sim/training/ranks.h sim/training/passes.c sim/training/passes.h \
    sim/training/threads.c sim/training/threads.h \
    sim/training/training.c sim/training/training.h \
    sim/whatif/answer.c sim/whatif/bound.c sim/whatif/bound.h sim/whatif/grade.c sim/whatif/grade.h sim/whatif/scale_kernels.c sim/whatif/scale_kernels.h \
    sim/whatif/whatif.c sim/whatif/whatif.h

# Device files, found at run time by gt_data_path().
devicesdir = $(pkgdatadir)/devices
dist_devices_DATA = \
    sim/devices/a100.ini sim/devices/h100.ini sim/devices/h200.ini sim/devices/h200-products.csv.zst \
    sim/devices/toy.ini sim/devices/v100.ini
# And frameworks' files.
frameworksdir = $(pkgdatadir)/frameworks
dist_frameworks_DATA = sim/frameworks/pytorch-2.11.ini

EXTRA_DIST += \
    sim/base/README.md sim/baseline/README.md sim/batching/README.md sim/changes/README.md sim/check/README.md sim/cmd/README.md \
    sim/cmd/gpu/README.md sim/cmd/input/README.md sim/cmd/print/README.md sim/cmd/report/README.md \
    sim/cmd/run/README.md sim/cmd/serve/README.md sim/cmd/trace/README.md sim/collectives/README.md sim/devices/README.md sim/frameworks/README.md sim/gpu/README.md \
    sim/machine/README.md sim/man/README.md sim/replay/README.md sim/rewrite/README.md sim/schedule/README.md sim/serve/README.md sim/shapes/README.md \
    sim/stream/README.md sim/tasks/README.md sim/training/README.md sim/warp/README.md sim/whatif/README.md \
    sim/workload/README.md
