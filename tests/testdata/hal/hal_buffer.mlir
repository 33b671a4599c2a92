// Forwards every import of the `hal` module that is about allocators and buffers, so that tests can
// call them with whatever arguments they like. A number at the end of a name
// is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @hal_buffer {
  vm.import private @hal.allocator.allocate(%a0 : !vm.ref<!hal.allocator>, %a1 : i64, %a2 : i32, %a3 : i32, %a4 : i64) -> !vm.ref<!hal.buffer>
  vm.import private @hal.allocator.import(%a0 : !vm.ref<!hal.allocator>, %a1 : i32, %a2 : i64, %a3 : i32, %a4 : i32, %a5 : !vm.buffer, %a6 : i64, %a7 : i64) -> !vm.ref<!hal.buffer>
  vm.import private @hal.allocator.select(%a0 : i32, %a1 : i32, %a2 : i64, %a3 : tuple<!vm.ref<!hal.device>, i64> ...) -> (!vm.ref<!hal.device>, i64)
  vm.import private @hal.buffer.assert(%a0 : !vm.ref<!hal.buffer>, %a1 : !vm.buffer, %a2 : !vm.ref<!hal.allocator>, %a3 : i64, %a4 : i32, %a5 : i32)
  vm.import private @hal.buffer.load(%a0 : !vm.ref<!hal.buffer>, %a1 : i64, %a2 : i32) -> i32
  vm.import private @hal.buffer.store(%a0 : i32, %a1 : !vm.ref<!hal.buffer>, %a2 : i64, %a3 : i32)
  vm.import private @hal.buffer.length(%a0 : !vm.ref<!hal.buffer>) -> i64
  vm.import private @hal.buffer.subspan(%a0 : !vm.ref<!hal.buffer>, %a1 : i64, %a2 : i64) -> !vm.ref<!hal.buffer>
  vm.import private @hal.buffer.allocation.preserve(%a0 : !vm.ref<!hal.buffer>)
  vm.import private @hal.buffer.allocation.discard(%a0 : !vm.ref<!hal.buffer>) -> i32
  vm.import private @hal.buffer.allocation.is_terminal(%a0 : !vm.ref<!hal.buffer>) -> i32
  vm.export @allocator_allocate
  vm.func private @allocator_allocate(%p0 : !vm.ref<!hal.allocator>, %p1 : i64, %p2 : i32, %p3 : i32, %p4 : i64) -> !vm.ref<!hal.buffer> {
    %r0 = vm.call @hal.allocator.allocate(%p0, %p1, %p2, %p3, %p4) : (!vm.ref<!hal.allocator>, i64, i32, i32, i64) -> !vm.ref<!hal.buffer>
    vm.return %r0 : !vm.ref<!hal.buffer>
  }
  vm.export @allocator_import
  vm.func private @allocator_import(%p0 : !vm.ref<!hal.allocator>, %p1 : i32, %p2 : i64, %p3 : i32, %p4 : i32, %p5 : !vm.buffer, %p6 : i64, %p7 : i64) -> !vm.ref<!hal.buffer> {
    %r0 = vm.call @hal.allocator.import(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7) : (!vm.ref<!hal.allocator>, i32, i64, i32, i32, !vm.buffer, i64, i64) -> !vm.ref<!hal.buffer>
    vm.return %r0 : !vm.ref<!hal.buffer>
  }
  vm.export @allocator_select_0
  vm.func private @allocator_select_0(%p0 : i32, %p1 : i32, %p2 : i64) -> (!vm.ref<!hal.device>, i64) {
    %r:2 = vm.call.variadic @hal.allocator.select(%p0, %p1, %p2, []) : (i32, i32, i64, tuple<!vm.ref<!hal.device>, i64> ...) -> (!vm.ref<!hal.device>, i64)
    vm.return %r#0, %r#1 : !vm.ref<!hal.device>, i64
  }
  vm.export @allocator_select_1
  vm.func private @allocator_select_1(%p0 : i32, %p1 : i32, %p2 : i64, %p3 : !vm.ref<!hal.device>, %p4 : i64) -> (!vm.ref<!hal.device>, i64) {
    %r:2 = vm.call.variadic @hal.allocator.select(%p0, %p1, %p2, [(%p3, %p4)]) : (i32, i32, i64, tuple<!vm.ref<!hal.device>, i64> ...) -> (!vm.ref<!hal.device>, i64)
    vm.return %r#0, %r#1 : !vm.ref<!hal.device>, i64
  }
  vm.export @allocator_select_2
  vm.func private @allocator_select_2(%p0 : i32, %p1 : i32, %p2 : i64, %p3 : !vm.ref<!hal.device>, %p4 : i64, %p5 : !vm.ref<!hal.device>, %p6 : i64) -> (!vm.ref<!hal.device>, i64) {
    %r:2 = vm.call.variadic @hal.allocator.select(%p0, %p1, %p2, [(%p3, %p4), (%p5, %p6)]) : (i32, i32, i64, tuple<!vm.ref<!hal.device>, i64> ...) -> (!vm.ref<!hal.device>, i64)
    vm.return %r#0, %r#1 : !vm.ref<!hal.device>, i64
  }
  vm.export @allocator_select_65
  vm.func private @allocator_select_65(%p0 : i32, %p1 : i32, %p2 : i64, %p3 : !vm.ref<!hal.device>, %p4 : i64, %p5 : !vm.ref<!hal.device>, %p6 : i64, %p7 : !vm.ref<!hal.device>, %p8 : i64, %p9 : !vm.ref<!hal.device>, %p10 : i64, %p11 : !vm.ref<!hal.device>, %p12 : i64, %p13 : !vm.ref<!hal.device>, %p14 : i64, %p15 : !vm.ref<!hal.device>, %p16 : i64, %p17 : !vm.ref<!hal.device>, %p18 : i64, %p19 : !vm.ref<!hal.device>, %p20 : i64, %p21 : !vm.ref<!hal.device>, %p22 : i64, %p23 : !vm.ref<!hal.device>, %p24 : i64, %p25 : !vm.ref<!hal.device>, %p26 : i64, %p27 : !vm.ref<!hal.device>, %p28 : i64, %p29 : !vm.ref<!hal.device>, %p30 : i64, %p31 : !vm.ref<!hal.device>, %p32 : i64, %p33 : !vm.ref<!hal.device>, %p34 : i64, %p35 : !vm.ref<!hal.device>, %p36 : i64, %p37 : !vm.ref<!hal.device>, %p38 : i64, %p39 : !vm.ref<!hal.device>, %p40 : i64, %p41 : !vm.ref<!hal.device>, %p42 : i64, %p43 : !vm.ref<!hal.device>, %p44 : i64, %p45 : !vm.ref<!hal.device>, %p46 : i64, %p47 : !vm.ref<!hal.device>, %p48 : i64, %p49 : !vm.ref<!hal.device>, %p50 : i64, %p51 : !vm.ref<!hal.device>, %p52 : i64, %p53 : !vm.ref<!hal.device>, %p54 : i64, %p55 : !vm.ref<!hal.device>, %p56 : i64, %p57 : !vm.ref<!hal.device>, %p58 : i64, %p59 : !vm.ref<!hal.device>, %p60 : i64, %p61 : !vm.ref<!hal.device>, %p62 : i64, %p63 : !vm.ref<!hal.device>, %p64 : i64, %p65 : !vm.ref<!hal.device>, %p66 : i64, %p67 : !vm.ref<!hal.device>, %p68 : i64, %p69 : !vm.ref<!hal.device>, %p70 : i64, %p71 : !vm.ref<!hal.device>, %p72 : i64, %p73 : !vm.ref<!hal.device>, %p74 : i64, %p75 : !vm.ref<!hal.device>, %p76 : i64, %p77 : !vm.ref<!hal.device>, %p78 : i64, %p79 : !vm.ref<!hal.device>, %p80 : i64, %p81 : !vm.ref<!hal.device>, %p82 : i64, %p83 : !vm.ref<!hal.device>, %p84 : i64, %p85 : !vm.ref<!hal.device>, %p86 : i64, %p87 : !vm.ref<!hal.device>, %p88 : i64, %p89 : !vm.ref<!hal.device>, %p90 : i64, %p91 : !vm.ref<!hal.device>, %p92 : i64, %p93 : !vm.ref<!hal.device>, %p94 : i64, %p95 : !vm.ref<!hal.device>, %p96 : i64, %p97 : !vm.ref<!hal.device>, %p98 : i64, %p99 : !vm.ref<!hal.device>, %p100 : i64, %p101 : !vm.ref<!hal.device>, %p102 : i64, %p103 : !vm.ref<!hal.device>, %p104 : i64, %p105 : !vm.ref<!hal.device>, %p106 : i64, %p107 : !vm.ref<!hal.device>, %p108 : i64, %p109 : !vm.ref<!hal.device>, %p110 : i64, %p111 : !vm.ref<!hal.device>, %p112 : i64, %p113 : !vm.ref<!hal.device>, %p114 : i64, %p115 : !vm.ref<!hal.device>, %p116 : i64, %p117 : !vm.ref<!hal.device>, %p118 : i64, %p119 : !vm.ref<!hal.device>, %p120 : i64, %p121 : !vm.ref<!hal.device>, %p122 : i64, %p123 : !vm.ref<!hal.device>, %p124 : i64, %p125 : !vm.ref<!hal.device>, %p126 : i64, %p127 : !vm.ref<!hal.device>, %p128 : i64, %p129 : !vm.ref<!hal.device>, %p130 : i64, %p131 : !vm.ref<!hal.device>, %p132 : i64) -> (!vm.ref<!hal.device>, i64) {
    %r:2 = vm.call.variadic @hal.allocator.select(%p0, %p1, %p2, [(%p3, %p4), (%p5, %p6), (%p7, %p8), (%p9, %p10), (%p11, %p12), (%p13, %p14), (%p15, %p16), (%p17, %p18), (%p19, %p20), (%p21, %p22), (%p23, %p24), (%p25, %p26), (%p27, %p28), (%p29, %p30), (%p31, %p32), (%p33, %p34), (%p35, %p36), (%p37, %p38), (%p39, %p40), (%p41, %p42), (%p43, %p44), (%p45, %p46), (%p47, %p48), (%p49, %p50), (%p51, %p52), (%p53, %p54), (%p55, %p56), (%p57, %p58), (%p59, %p60), (%p61, %p62), (%p63, %p64), (%p65, %p66), (%p67, %p68), (%p69, %p70), (%p71, %p72), (%p73, %p74), (%p75, %p76), (%p77, %p78), (%p79, %p80), (%p81, %p82), (%p83, %p84), (%p85, %p86), (%p87, %p88), (%p89, %p90), (%p91, %p92), (%p93, %p94), (%p95, %p96), (%p97, %p98), (%p99, %p100), (%p101, %p102), (%p103, %p104), (%p105, %p106), (%p107, %p108), (%p109, %p110), (%p111, %p112), (%p113, %p114), (%p115, %p116), (%p117, %p118), (%p119, %p120), (%p121, %p122), (%p123, %p124), (%p125, %p126), (%p127, %p128), (%p129, %p130), (%p131, %p132)]) : (i32, i32, i64, tuple<!vm.ref<!hal.device>, i64> ...) -> (!vm.ref<!hal.device>, i64)
    vm.return %r#0, %r#1 : !vm.ref<!hal.device>, i64
  }
  vm.export @buffer_assert
  vm.func private @buffer_assert(%p0 : !vm.ref<!hal.buffer>, %p1 : !vm.buffer, %p2 : !vm.ref<!hal.allocator>, %p3 : i64, %p4 : i32, %p5 : i32) {
    vm.call @hal.buffer.assert(%p0, %p1, %p2, %p3, %p4, %p5) : (!vm.ref<!hal.buffer>, !vm.buffer, !vm.ref<!hal.allocator>, i64, i32, i32) -> ()
    vm.return
  }
  vm.export @buffer_load
  vm.func private @buffer_load(%p0 : !vm.ref<!hal.buffer>, %p1 : i64, %p2 : i32) -> i32 {
    %r0 = vm.call @hal.buffer.load(%p0, %p1, %p2) : (!vm.ref<!hal.buffer>, i64, i32) -> i32
    vm.return %r0 : i32
  }
  vm.export @buffer_store
  vm.func private @buffer_store(%p0 : i32, %p1 : !vm.ref<!hal.buffer>, %p2 : i64, %p3 : i32) {
    vm.call @hal.buffer.store(%p0, %p1, %p2, %p3) : (i32, !vm.ref<!hal.buffer>, i64, i32) -> ()
    vm.return
  }
  vm.export @buffer_length
  vm.func private @buffer_length(%p0 : !vm.ref<!hal.buffer>) -> i64 {
    %r0 = vm.call @hal.buffer.length(%p0) : (!vm.ref<!hal.buffer>) -> i64
    vm.return %r0 : i64
  }
  vm.export @buffer_subspan
  vm.func private @buffer_subspan(%p0 : !vm.ref<!hal.buffer>, %p1 : i64, %p2 : i64) -> !vm.ref<!hal.buffer> {
    %r0 = vm.call @hal.buffer.subspan(%p0, %p1, %p2) : (!vm.ref<!hal.buffer>, i64, i64) -> !vm.ref<!hal.buffer>
    vm.return %r0 : !vm.ref<!hal.buffer>
  }
  vm.export @buffer_allocation_preserve
  vm.func private @buffer_allocation_preserve(%p0 : !vm.ref<!hal.buffer>) {
    vm.call @hal.buffer.allocation.preserve(%p0) : (!vm.ref<!hal.buffer>) -> ()
    vm.return
  }
  vm.export @buffer_allocation_discard
  vm.func private @buffer_allocation_discard(%p0 : !vm.ref<!hal.buffer>) -> i32 {
    %r0 = vm.call @hal.buffer.allocation.discard(%p0) : (!vm.ref<!hal.buffer>) -> i32
    vm.return %r0 : i32
  }
  vm.export @buffer_allocation_is_terminal
  vm.func private @buffer_allocation_is_terminal(%p0 : !vm.ref<!hal.buffer>) -> i32 {
    %r0 = vm.call @hal.buffer.allocation.is_terminal(%p0) : (!vm.ref<!hal.buffer>) -> i32
    vm.return %r0 : i32
  }
}
