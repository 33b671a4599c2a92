// Forwards every import of the `hal` module that is about command buffers, so that tests can
// call them with whatever arguments they like. A number at the end of a name
// is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @hal_command_buffer {
  vm.import private @hal.command_buffer.create(%a0 : !vm.ref<!hal.device>, %a1 : i32, %a2 : i32, %a3 : i64, %a4 : i32) -> !vm.ref<!hal.command_buffer> attributes {minimum_version = 6 : i32}
  vm.import private @hal.command_buffer.finalize(%a0 : !vm.ref<!hal.command_buffer>)
  vm.import private @hal.command_buffer.execution_barrier(%a0 : !vm.ref<!hal.command_buffer>, %a1 : i32, %a2 : i32, %a3 : i64)
  vm.import private @hal.command_buffer.fill_buffer(%a0 : !vm.ref<!hal.command_buffer>, %a1 : !vm.ref<!hal.buffer>, %a2 : i64, %a3 : i64, %a4 : i32, %a5 : i64, %a6 : i32, %a7 : i64)
  vm.import private @hal.command_buffer.copy_buffer(%a0 : !vm.ref<!hal.command_buffer>, %a1 : i32, %a2 : i32, %a3 : !vm.ref<!hal.buffer>, %a4 : i64, %a5 : !vm.ref<!hal.buffer>, %a6 : i64, %a7 : i64, %a8 : i64)
  vm.import private @hal.command_buffer.update_buffer(%a0 : !vm.ref<!hal.command_buffer>, %a1 : !vm.buffer, %a2 : i64, %a3 : !vm.ref<!hal.buffer>, %a4 : i64, %a5 : i64, %a6 : i32, %a7 : i64)
  vm.import private @hal.command_buffer.dispatch(%a0 : !vm.ref<!hal.command_buffer>, %a1 : !vm.ref<!hal.executable>, %a2 : i64, %a3 : i32, %a4 : i32, %a5 : i32, %a6 : i64, %a7 : i32 ..., %a8 : tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...) attributes {minimum_version = 7 : i32}
  vm.import private @hal.command_buffer.dispatch.indirect(%a0 : !vm.ref<!hal.command_buffer>, %a1 : !vm.ref<!hal.executable>, %a2 : i64, %a3 : i32, %a4 : !vm.ref<!hal.buffer>, %a5 : i64, %a6 : i64, %a7 : i32 ..., %a8 : tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...) attributes {minimum_version = 7 : i32}
  vm.import private @hal.command_buffer.flush_buffer(%a0 : !vm.ref<!hal.command_buffer>, %a1 : i32, %a2 : !vm.ref<!hal.buffer>, %a3 : i64, %a4 : i64)
  vm.import private @hal.command_buffer.invalidate_buffer(%a0 : !vm.ref<!hal.command_buffer>, %a1 : i32, %a2 : !vm.ref<!hal.buffer>, %a3 : i64, %a4 : i64)
  vm.import private @hal.command_buffer.advise_buffer(%a0 : !vm.ref<!hal.command_buffer>, %a1 : !vm.ref<!hal.buffer>, %a2 : i64, %a3 : i64, %a4 : i64, %a5 : i32)
  vm.import private @hal.command_buffer.begin_debug_group(%a0 : !vm.ref<!hal.command_buffer>, %a1 : !vm.buffer)
  vm.import private @hal.command_buffer.end_debug_group(%a0 : !vm.ref<!hal.command_buffer>)
  vm.export @command_buffer_create
  vm.func private @command_buffer_create(%p0 : !vm.ref<!hal.device>, %p1 : i32, %p2 : i32, %p3 : i64, %p4 : i32) -> !vm.ref<!hal.command_buffer> {
    %r0 = vm.call @hal.command_buffer.create(%p0, %p1, %p2, %p3, %p4) : (!vm.ref<!hal.device>, i32, i32, i64, i32) -> !vm.ref<!hal.command_buffer>
    vm.return %r0 : !vm.ref<!hal.command_buffer>
  }
  vm.export @command_buffer_finalize
  vm.func private @command_buffer_finalize(%p0 : !vm.ref<!hal.command_buffer>) {
    vm.call @hal.command_buffer.finalize(%p0) : (!vm.ref<!hal.command_buffer>) -> ()
    vm.return
  }
  vm.export @command_buffer_execution_barrier
  vm.func private @command_buffer_execution_barrier(%p0 : !vm.ref<!hal.command_buffer>, %p1 : i32, %p2 : i32, %p3 : i64) {
    vm.call @hal.command_buffer.execution_barrier(%p0, %p1, %p2, %p3) : (!vm.ref<!hal.command_buffer>, i32, i32, i64) -> ()
    vm.return
  }
  vm.export @command_buffer_fill_buffer
  vm.func private @command_buffer_fill_buffer(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.buffer>, %p2 : i64, %p3 : i64, %p4 : i32, %p5 : i64, %p6 : i32, %p7 : i64) {
    vm.call @hal.command_buffer.fill_buffer(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.buffer>, i64, i64, i32, i64, i32, i64) -> ()
    vm.return
  }
  vm.export @command_buffer_copy_buffer
  vm.func private @command_buffer_copy_buffer(%p0 : !vm.ref<!hal.command_buffer>, %p1 : i32, %p2 : i32, %p3 : !vm.ref<!hal.buffer>, %p4 : i64, %p5 : !vm.ref<!hal.buffer>, %p6 : i64, %p7 : i64, %p8 : i64) {
    vm.call @hal.command_buffer.copy_buffer(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8) : (!vm.ref<!hal.command_buffer>, i32, i32, !vm.ref<!hal.buffer>, i64, !vm.ref<!hal.buffer>, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @command_buffer_update_buffer
  vm.func private @command_buffer_update_buffer(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.buffer, %p2 : i64, %p3 : !vm.ref<!hal.buffer>, %p4 : i64, %p5 : i64, %p6 : i32, %p7 : i64) {
    vm.call @hal.command_buffer.update_buffer(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7) : (!vm.ref<!hal.command_buffer>, !vm.buffer, i64, !vm.ref<!hal.buffer>, i64, i64, i32, i64) -> ()
    vm.return
  }
  vm.export @command_buffer_dispatch_0_0
  vm.func private @command_buffer_dispatch_0_0(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.executable>, %p2 : i64, %p3 : i32, %p4 : i32, %p5 : i32, %p6 : i64) {
    vm.call.variadic @hal.command_buffer.dispatch(%p0, %p1, %p2, %p3, %p4, %p5, %p6, [], []) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.executable>, i64, i32, i32, i32, i64, i32 ..., tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @command_buffer_dispatch_0_1
  vm.func private @command_buffer_dispatch_0_1(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.executable>, %p2 : i64, %p3 : i32, %p4 : i32, %p5 : i32, %p6 : i64, %p7 : i32, %p8 : i32, %p9 : !vm.ref<!hal.buffer>, %p10 : i64, %p11 : i64) {
    vm.call.variadic @hal.command_buffer.dispatch(%p0, %p1, %p2, %p3, %p4, %p5, %p6, [], [(%p7, %p8, %p9, %p10, %p11)]) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.executable>, i64, i32, i32, i32, i64, i32 ..., tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @command_buffer_dispatch_0_3
  vm.func private @command_buffer_dispatch_0_3(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.executable>, %p2 : i64, %p3 : i32, %p4 : i32, %p5 : i32, %p6 : i64, %p7 : i32, %p8 : i32, %p9 : !vm.ref<!hal.buffer>, %p10 : i64, %p11 : i64, %p12 : i32, %p13 : i32, %p14 : !vm.ref<!hal.buffer>, %p15 : i64, %p16 : i64, %p17 : i32, %p18 : i32, %p19 : !vm.ref<!hal.buffer>, %p20 : i64, %p21 : i64) {
    vm.call.variadic @hal.command_buffer.dispatch(%p0, %p1, %p2, %p3, %p4, %p5, %p6, [], [(%p7, %p8, %p9, %p10, %p11), (%p12, %p13, %p14, %p15, %p16), (%p17, %p18, %p19, %p20, %p21)]) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.executable>, i64, i32, i32, i32, i64, i32 ..., tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @command_buffer_dispatch_1_1
  vm.func private @command_buffer_dispatch_1_1(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.executable>, %p2 : i64, %p3 : i32, %p4 : i32, %p5 : i32, %p6 : i64, %p7 : i32, %p8 : i32, %p9 : i32, %p10 : !vm.ref<!hal.buffer>, %p11 : i64, %p12 : i64) {
    vm.call.variadic @hal.command_buffer.dispatch(%p0, %p1, %p2, %p3, %p4, %p5, %p6, [%p7], [(%p8, %p9, %p10, %p11, %p12)]) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.executable>, i64, i32, i32, i32, i64, i32 ..., tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @command_buffer_dispatch_0_33
  vm.func private @command_buffer_dispatch_0_33(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.executable>, %p2 : i64, %p3 : i32, %p4 : i32, %p5 : i32, %p6 : i64, %p7 : i32, %p8 : i32, %p9 : !vm.ref<!hal.buffer>, %p10 : i64, %p11 : i64, %p12 : i32, %p13 : i32, %p14 : !vm.ref<!hal.buffer>, %p15 : i64, %p16 : i64, %p17 : i32, %p18 : i32, %p19 : !vm.ref<!hal.buffer>, %p20 : i64, %p21 : i64, %p22 : i32, %p23 : i32, %p24 : !vm.ref<!hal.buffer>, %p25 : i64, %p26 : i64, %p27 : i32, %p28 : i32, %p29 : !vm.ref<!hal.buffer>, %p30 : i64, %p31 : i64, %p32 : i32, %p33 : i32, %p34 : !vm.ref<!hal.buffer>, %p35 : i64, %p36 : i64, %p37 : i32, %p38 : i32, %p39 : !vm.ref<!hal.buffer>, %p40 : i64, %p41 : i64, %p42 : i32, %p43 : i32, %p44 : !vm.ref<!hal.buffer>, %p45 : i64, %p46 : i64, %p47 : i32, %p48 : i32, %p49 : !vm.ref<!hal.buffer>, %p50 : i64, %p51 : i64, %p52 : i32, %p53 : i32, %p54 : !vm.ref<!hal.buffer>, %p55 : i64, %p56 : i64, %p57 : i32, %p58 : i32, %p59 : !vm.ref<!hal.buffer>, %p60 : i64, %p61 : i64, %p62 : i32, %p63 : i32, %p64 : !vm.ref<!hal.buffer>, %p65 : i64, %p66 : i64, %p67 : i32, %p68 : i32, %p69 : !vm.ref<!hal.buffer>, %p70 : i64, %p71 : i64, %p72 : i32, %p73 : i32, %p74 : !vm.ref<!hal.buffer>, %p75 : i64, %p76 : i64, %p77 : i32, %p78 : i32, %p79 : !vm.ref<!hal.buffer>, %p80 : i64, %p81 : i64, %p82 : i32, %p83 : i32, %p84 : !vm.ref<!hal.buffer>, %p85 : i64, %p86 : i64, %p87 : i32, %p88 : i32, %p89 : !vm.ref<!hal.buffer>, %p90 : i64, %p91 : i64, %p92 : i32, %p93 : i32, %p94 : !vm.ref<!hal.buffer>, %p95 : i64, %p96 : i64, %p97 : i32, %p98 : i32, %p99 : !vm.ref<!hal.buffer>, %p100 : i64, %p101 : i64, %p102 : i32, %p103 : i32, %p104 : !vm.ref<!hal.buffer>, %p105 : i64, %p106 : i64, %p107 : i32, %p108 : i32, %p109 : !vm.ref<!hal.buffer>, %p110 : i64, %p111 : i64, %p112 : i32, %p113 : i32, %p114 : !vm.ref<!hal.buffer>, %p115 : i64, %p116 : i64, %p117 : i32, %p118 : i32, %p119 : !vm.ref<!hal.buffer>, %p120 : i64, %p121 : i64, %p122 : i32, %p123 : i32, %p124 : !vm.ref<!hal.buffer>, %p125 : i64, %p126 : i64, %p127 : i32, %p128 : i32, %p129 : !vm.ref<!hal.buffer>, %p130 : i64, %p131 : i64, %p132 : i32, %p133 : i32, %p134 : !vm.ref<!hal.buffer>, %p135 : i64, %p136 : i64, %p137 : i32, %p138 : i32, %p139 : !vm.ref<!hal.buffer>, %p140 : i64, %p141 : i64, %p142 : i32, %p143 : i32, %p144 : !vm.ref<!hal.buffer>, %p145 : i64, %p146 : i64, %p147 : i32, %p148 : i32, %p149 : !vm.ref<!hal.buffer>, %p150 : i64, %p151 : i64, %p152 : i32, %p153 : i32, %p154 : !vm.ref<!hal.buffer>, %p155 : i64, %p156 : i64, %p157 : i32, %p158 : i32, %p159 : !vm.ref<!hal.buffer>, %p160 : i64, %p161 : i64, %p162 : i32, %p163 : i32, %p164 : !vm.ref<!hal.buffer>, %p165 : i64, %p166 : i64, %p167 : i32, %p168 : i32, %p169 : !vm.ref<!hal.buffer>, %p170 : i64, %p171 : i64) {
    vm.call.variadic @hal.command_buffer.dispatch(%p0, %p1, %p2, %p3, %p4, %p5, %p6, [], [(%p7, %p8, %p9, %p10, %p11), (%p12, %p13, %p14, %p15, %p16), (%p17, %p18, %p19, %p20, %p21), (%p22, %p23, %p24, %p25, %p26), (%p27, %p28, %p29, %p30, %p31), (%p32, %p33, %p34, %p35, %p36), (%p37, %p38, %p39, %p40, %p41), (%p42, %p43, %p44, %p45, %p46), (%p47, %p48, %p49, %p50, %p51), (%p52, %p53, %p54, %p55, %p56), (%p57, %p58, %p59, %p60, %p61), (%p62, %p63, %p64, %p65, %p66), (%p67, %p68, %p69, %p70, %p71), (%p72, %p73, %p74, %p75, %p76), (%p77, %p78, %p79, %p80, %p81), (%p82, %p83, %p84, %p85, %p86), (%p87, %p88, %p89, %p90, %p91), (%p92, %p93, %p94, %p95, %p96), (%p97, %p98, %p99, %p100, %p101), (%p102, %p103, %p104, %p105, %p106), (%p107, %p108, %p109, %p110, %p111), (%p112, %p113, %p114, %p115, %p116), (%p117, %p118, %p119, %p120, %p121), (%p122, %p123, %p124, %p125, %p126), (%p127, %p128, %p129, %p130, %p131), (%p132, %p133, %p134, %p135, %p136), (%p137, %p138, %p139, %p140, %p141), (%p142, %p143, %p144, %p145, %p146), (%p147, %p148, %p149, %p150, %p151), (%p152, %p153, %p154, %p155, %p156), (%p157, %p158, %p159, %p160, %p161), (%p162, %p163, %p164, %p165, %p166), (%p167, %p168, %p169, %p170, %p171)]) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.executable>, i64, i32, i32, i32, i64, i32 ..., tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @command_buffer_dispatch_65_0
  vm.func private @command_buffer_dispatch_65_0(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.executable>, %p2 : i64, %p3 : i32, %p4 : i32, %p5 : i32, %p6 : i64, %p7 : i32, %p8 : i32, %p9 : i32, %p10 : i32, %p11 : i32, %p12 : i32, %p13 : i32, %p14 : i32, %p15 : i32, %p16 : i32, %p17 : i32, %p18 : i32, %p19 : i32, %p20 : i32, %p21 : i32, %p22 : i32, %p23 : i32, %p24 : i32, %p25 : i32, %p26 : i32, %p27 : i32, %p28 : i32, %p29 : i32, %p30 : i32, %p31 : i32, %p32 : i32, %p33 : i32, %p34 : i32, %p35 : i32, %p36 : i32, %p37 : i32, %p38 : i32, %p39 : i32, %p40 : i32, %p41 : i32, %p42 : i32, %p43 : i32, %p44 : i32, %p45 : i32, %p46 : i32, %p47 : i32, %p48 : i32, %p49 : i32, %p50 : i32, %p51 : i32, %p52 : i32, %p53 : i32, %p54 : i32, %p55 : i32, %p56 : i32, %p57 : i32, %p58 : i32, %p59 : i32, %p60 : i32, %p61 : i32, %p62 : i32, %p63 : i32, %p64 : i32, %p65 : i32, %p66 : i32, %p67 : i32, %p68 : i32, %p69 : i32, %p70 : i32, %p71 : i32) {
    vm.call.variadic @hal.command_buffer.dispatch(%p0, %p1, %p2, %p3, %p4, %p5, %p6, [%p7, %p8, %p9, %p10, %p11, %p12, %p13, %p14, %p15, %p16, %p17, %p18, %p19, %p20, %p21, %p22, %p23, %p24, %p25, %p26, %p27, %p28, %p29, %p30, %p31, %p32, %p33, %p34, %p35, %p36, %p37, %p38, %p39, %p40, %p41, %p42, %p43, %p44, %p45, %p46, %p47, %p48, %p49, %p50, %p51, %p52, %p53, %p54, %p55, %p56, %p57, %p58, %p59, %p60, %p61, %p62, %p63, %p64, %p65, %p66, %p67, %p68, %p69, %p70, %p71], []) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.executable>, i64, i32, i32, i32, i64, i32 ..., tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @command_buffer_dispatch_indirect_0_0
  vm.func private @command_buffer_dispatch_indirect_0_0(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.executable>, %p2 : i64, %p3 : i32, %p4 : !vm.ref<!hal.buffer>, %p5 : i64, %p6 : i64) {
    vm.call.variadic @hal.command_buffer.dispatch.indirect(%p0, %p1, %p2, %p3, %p4, %p5, %p6, [], []) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.executable>, i64, i32, !vm.ref<!hal.buffer>, i64, i64, i32 ..., tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @command_buffer_dispatch_indirect_0_3
  vm.func private @command_buffer_dispatch_indirect_0_3(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.executable>, %p2 : i64, %p3 : i32, %p4 : !vm.ref<!hal.buffer>, %p5 : i64, %p6 : i64, %p7 : i32, %p8 : i32, %p9 : !vm.ref<!hal.buffer>, %p10 : i64, %p11 : i64, %p12 : i32, %p13 : i32, %p14 : !vm.ref<!hal.buffer>, %p15 : i64, %p16 : i64, %p17 : i32, %p18 : i32, %p19 : !vm.ref<!hal.buffer>, %p20 : i64, %p21 : i64) {
    vm.call.variadic @hal.command_buffer.dispatch.indirect(%p0, %p1, %p2, %p3, %p4, %p5, %p6, [], [(%p7, %p8, %p9, %p10, %p11), (%p12, %p13, %p14, %p15, %p16), (%p17, %p18, %p19, %p20, %p21)]) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.executable>, i64, i32, !vm.ref<!hal.buffer>, i64, i64, i32 ..., tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @command_buffer_dispatch_indirect_0_33
  vm.func private @command_buffer_dispatch_indirect_0_33(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.executable>, %p2 : i64, %p3 : i32, %p4 : !vm.ref<!hal.buffer>, %p5 : i64, %p6 : i64, %p7 : i32, %p8 : i32, %p9 : !vm.ref<!hal.buffer>, %p10 : i64, %p11 : i64, %p12 : i32, %p13 : i32, %p14 : !vm.ref<!hal.buffer>, %p15 : i64, %p16 : i64, %p17 : i32, %p18 : i32, %p19 : !vm.ref<!hal.buffer>, %p20 : i64, %p21 : i64, %p22 : i32, %p23 : i32, %p24 : !vm.ref<!hal.buffer>, %p25 : i64, %p26 : i64, %p27 : i32, %p28 : i32, %p29 : !vm.ref<!hal.buffer>, %p30 : i64, %p31 : i64, %p32 : i32, %p33 : i32, %p34 : !vm.ref<!hal.buffer>, %p35 : i64, %p36 : i64, %p37 : i32, %p38 : i32, %p39 : !vm.ref<!hal.buffer>, %p40 : i64, %p41 : i64, %p42 : i32, %p43 : i32, %p44 : !vm.ref<!hal.buffer>, %p45 : i64, %p46 : i64, %p47 : i32, %p48 : i32, %p49 : !vm.ref<!hal.buffer>, %p50 : i64, %p51 : i64, %p52 : i32, %p53 : i32, %p54 : !vm.ref<!hal.buffer>, %p55 : i64, %p56 : i64, %p57 : i32, %p58 : i32, %p59 : !vm.ref<!hal.buffer>, %p60 : i64, %p61 : i64, %p62 : i32, %p63 : i32, %p64 : !vm.ref<!hal.buffer>, %p65 : i64, %p66 : i64, %p67 : i32, %p68 : i32, %p69 : !vm.ref<!hal.buffer>, %p70 : i64, %p71 : i64, %p72 : i32, %p73 : i32, %p74 : !vm.ref<!hal.buffer>, %p75 : i64, %p76 : i64, %p77 : i32, %p78 : i32, %p79 : !vm.ref<!hal.buffer>, %p80 : i64, %p81 : i64, %p82 : i32, %p83 : i32, %p84 : !vm.ref<!hal.buffer>, %p85 : i64, %p86 : i64, %p87 : i32, %p88 : i32, %p89 : !vm.ref<!hal.buffer>, %p90 : i64, %p91 : i64, %p92 : i32, %p93 : i32, %p94 : !vm.ref<!hal.buffer>, %p95 : i64, %p96 : i64, %p97 : i32, %p98 : i32, %p99 : !vm.ref<!hal.buffer>, %p100 : i64, %p101 : i64, %p102 : i32, %p103 : i32, %p104 : !vm.ref<!hal.buffer>, %p105 : i64, %p106 : i64, %p107 : i32, %p108 : i32, %p109 : !vm.ref<!hal.buffer>, %p110 : i64, %p111 : i64, %p112 : i32, %p113 : i32, %p114 : !vm.ref<!hal.buffer>, %p115 : i64, %p116 : i64, %p117 : i32, %p118 : i32, %p119 : !vm.ref<!hal.buffer>, %p120 : i64, %p121 : i64, %p122 : i32, %p123 : i32, %p124 : !vm.ref<!hal.buffer>, %p125 : i64, %p126 : i64, %p127 : i32, %p128 : i32, %p129 : !vm.ref<!hal.buffer>, %p130 : i64, %p131 : i64, %p132 : i32, %p133 : i32, %p134 : !vm.ref<!hal.buffer>, %p135 : i64, %p136 : i64, %p137 : i32, %p138 : i32, %p139 : !vm.ref<!hal.buffer>, %p140 : i64, %p141 : i64, %p142 : i32, %p143 : i32, %p144 : !vm.ref<!hal.buffer>, %p145 : i64, %p146 : i64, %p147 : i32, %p148 : i32, %p149 : !vm.ref<!hal.buffer>, %p150 : i64, %p151 : i64, %p152 : i32, %p153 : i32, %p154 : !vm.ref<!hal.buffer>, %p155 : i64, %p156 : i64, %p157 : i32, %p158 : i32, %p159 : !vm.ref<!hal.buffer>, %p160 : i64, %p161 : i64, %p162 : i32, %p163 : i32, %p164 : !vm.ref<!hal.buffer>, %p165 : i64, %p166 : i64, %p167 : i32, %p168 : i32, %p169 : !vm.ref<!hal.buffer>, %p170 : i64, %p171 : i64) {
    vm.call.variadic @hal.command_buffer.dispatch.indirect(%p0, %p1, %p2, %p3, %p4, %p5, %p6, [], [(%p7, %p8, %p9, %p10, %p11), (%p12, %p13, %p14, %p15, %p16), (%p17, %p18, %p19, %p20, %p21), (%p22, %p23, %p24, %p25, %p26), (%p27, %p28, %p29, %p30, %p31), (%p32, %p33, %p34, %p35, %p36), (%p37, %p38, %p39, %p40, %p41), (%p42, %p43, %p44, %p45, %p46), (%p47, %p48, %p49, %p50, %p51), (%p52, %p53, %p54, %p55, %p56), (%p57, %p58, %p59, %p60, %p61), (%p62, %p63, %p64, %p65, %p66), (%p67, %p68, %p69, %p70, %p71), (%p72, %p73, %p74, %p75, %p76), (%p77, %p78, %p79, %p80, %p81), (%p82, %p83, %p84, %p85, %p86), (%p87, %p88, %p89, %p90, %p91), (%p92, %p93, %p94, %p95, %p96), (%p97, %p98, %p99, %p100, %p101), (%p102, %p103, %p104, %p105, %p106), (%p107, %p108, %p109, %p110, %p111), (%p112, %p113, %p114, %p115, %p116), (%p117, %p118, %p119, %p120, %p121), (%p122, %p123, %p124, %p125, %p126), (%p127, %p128, %p129, %p130, %p131), (%p132, %p133, %p134, %p135, %p136), (%p137, %p138, %p139, %p140, %p141), (%p142, %p143, %p144, %p145, %p146), (%p147, %p148, %p149, %p150, %p151), (%p152, %p153, %p154, %p155, %p156), (%p157, %p158, %p159, %p160, %p161), (%p162, %p163, %p164, %p165, %p166), (%p167, %p168, %p169, %p170, %p171)]) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.executable>, i64, i32, !vm.ref<!hal.buffer>, i64, i64, i32 ..., tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @command_buffer_flush_buffer
  vm.func private @command_buffer_flush_buffer(%p0 : !vm.ref<!hal.command_buffer>, %p1 : i32, %p2 : !vm.ref<!hal.buffer>, %p3 : i64, %p4 : i64) {
    vm.call @hal.command_buffer.flush_buffer(%p0, %p1, %p2, %p3, %p4) : (!vm.ref<!hal.command_buffer>, i32, !vm.ref<!hal.buffer>, i64, i64) -> ()
    vm.return
  }
  vm.export @command_buffer_invalidate_buffer
  vm.func private @command_buffer_invalidate_buffer(%p0 : !vm.ref<!hal.command_buffer>, %p1 : i32, %p2 : !vm.ref<!hal.buffer>, %p3 : i64, %p4 : i64) {
    vm.call @hal.command_buffer.invalidate_buffer(%p0, %p1, %p2, %p3, %p4) : (!vm.ref<!hal.command_buffer>, i32, !vm.ref<!hal.buffer>, i64, i64) -> ()
    vm.return
  }
  vm.export @command_buffer_advise_buffer
  vm.func private @command_buffer_advise_buffer(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.buffer>, %p2 : i64, %p3 : i64, %p4 : i64, %p5 : i32) {
    vm.call @hal.command_buffer.advise_buffer(%p0, %p1, %p2, %p3, %p4, %p5) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.buffer>, i64, i64, i64, i32) -> ()
    vm.return
  }
  vm.export @command_buffer_begin_debug_group
  vm.func private @command_buffer_begin_debug_group(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.buffer) {
    vm.call @hal.command_buffer.begin_debug_group(%p0, %p1) : (!vm.ref<!hal.command_buffer>, !vm.buffer) -> ()
    vm.return
  }
  vm.export @command_buffer_end_debug_group
  vm.func private @command_buffer_end_debug_group(%p0 : !vm.ref<!hal.command_buffer>) {
    vm.call @hal.command_buffer.end_debug_group(%p0) : (!vm.ref<!hal.command_buffer>) -> ()
    vm.return
  }
}
