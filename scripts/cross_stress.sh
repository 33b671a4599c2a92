# For scripts/cross.sh --stress: tests in which threads meet at lock-free parts:
# the executor and its deques, fences and timelines, rings and slots.
stress_targets=(
  base_event_ring_test base_event_test base_futex_test base_mutex_test
  base_shared_memory_test base_sleeper_test
  hal_deferred_test hal_fence_test hal_timeline_test
  exec_backup_thread_test exec_executor_test exec_idle_list_test
  exec_mailbox_test exec_stealing_executor_test exec_work_deque_test
  exec_worker_set_test exec_worker_thread_test
  stream_release_queue_test stream_value_slot_test
  stress_async_stress_test)

# Runs them in rounds until the time is over. The last line has what passed and
# failed in all rounds.
run_stress() {
  local log=$build/stress.log rounds=0 passed=0 failed=0 skipped p f s
  local end=$((SECONDS + stress_seconds)) start=$SECONDS
  while ((SECONDS < end)); do
    ctest --test-dir "$build" --timeout 600 --verbose "${arguments[@]}" \
      >"$log" 2>&1 || true
    read -r p f s <<<"$(scripts/count_tests.sh "$log")"
    ((f == 0)) || cp "$log" "$build/stress-failed-$rounds.log"
    passed=$((passed + p)) failed=$((failed + f)) rounds=$((rounds + 1))
    skipped=$s
  done
  echo "stress: $rounds rounds in $((SECONDS - start)) s, $passed passed," \
    "$failed failed, $skipped skipped in each round"
  ((rounds > 0 && passed > 0 && failed == 0))
}
