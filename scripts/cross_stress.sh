# For scripts/cross.sh --stress: tests in which threads meet at lock-free parts:
# the executor and its deques, fences and timelines, rings and slots.
stress_targets=(
  base_event_ring_test base_event_test base_futex_test base_mutex_test
  base_shared_memory_test base_sleeper_test
  hal_deferred_test hal_fence_test hal_timeline_test
  exec_backup_thread_test exec_executor_test exec_mailbox_test
  exec_stealing_executor_test exec_work_deque_test exec_worker_set_test
  exec_worker_thread_test
  stream_release_queue_test stream_value_slot_test
  stress_async_stress_test)

# Runs one program; all interleavings of a model need no threads, and so no
# emulator.
run_stress_test() {
  local program=$build/tests/$1 arguments=('--gtest_filter=-*Model*')
  [[ $1 == stress_* ]] && program=$build/tests/stress/$1 arguments=(--dags=10)
  "qemu-$architecture" -cpu "${cpus%%:*}" -L "/usr/$triple" \
    -E "LD_LIBRARY_PATH=$sysroot/usr/lib/$triple" "$program" "${arguments[@]}"
}

# Says whether the emulator keeps the order of sequentially consistent accesses.
# If it does not, tests of what relies on that order may fail.
tell_order() {
  "$triple-g++" -O2 -static -pthread scripts/store_then_load.cc \
    -o "$build/store_then_load"
  "qemu-$architecture" -cpu "${cpus%%:*}" "$build/store_then_load" || true
}

# Runs them in turn until the time is over. The last line says how often they
# ran, and how many runs failed.
run_stress() {
  tell_order
  local log=$build/stress.log runs=0 failed=0 target start=$SECONDS
  local end=$((start + stress_seconds))
  while ((SECONDS < end)); do
    for target in "${stress_targets[@]}"; do
      ((SECONDS < end)) || break
      run_stress_test "$target" >"$log" 2>&1 || {
        failed=$((failed + 1))
        cp "$log" "$build/stress-$runs.log"
        echo "$target failed; see $build/stress-$runs.log"
      }
      runs=$((runs + 1))
    done
  done
  echo "stress: $((SECONDS - start)) s, $runs runs of ${#stress_targets[@]}" \
    "programs, $failed failed"
  ((runs > 0 && failed == 0))
}
