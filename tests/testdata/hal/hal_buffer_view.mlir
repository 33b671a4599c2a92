// Forwards every import of the `hal` module that is about buffer views, so that tests can
// call them with whatever arguments they like. A number at the end of a name
// is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @hal_buffer_view {
  vm.import private @hal.buffer_view.create(%a0 : !vm.ref<!hal.buffer>, %a1 : i64, %a2 : i64, %a3 : i32, %a4 : i32, %a5 : i64 ...) -> !vm.ref<!hal.buffer_view>
  vm.import private @hal.buffer_view.assert(%a0 : !vm.ref<!hal.buffer_view>, %a1 : !vm.buffer, %a2 : i32, %a3 : i32, %a4 : i64 ...)
  vm.import private @hal.buffer_view.buffer(%a0 : !vm.ref<!hal.buffer_view>) -> !vm.ref<!hal.buffer>
  vm.import private @hal.buffer_view.dim(%a0 : !vm.ref<!hal.buffer_view>, %a1 : i32) -> i64
  vm.import private @hal.buffer_view.rank(%a0 : !vm.ref<!hal.buffer_view>) -> i32
  vm.import private @hal.buffer_view.element_type(%a0 : !vm.ref<!hal.buffer_view>) -> i32
  vm.import private @hal.buffer_view.encoding_type(%a0 : !vm.ref<!hal.buffer_view>) -> i32
  vm.import private @hal.buffer_view.trace(%a0 : !vm.buffer, %a1 : !vm.ref<!hal.buffer_view> ...)
  vm.export @buffer_view_create_0
  vm.func private @buffer_view_create_0(%p0 : !vm.ref<!hal.buffer>, %p1 : i64, %p2 : i64, %p3 : i32, %p4 : i32) -> !vm.ref<!hal.buffer_view> {
    %r0 = vm.call.variadic @hal.buffer_view.create(%p0, %p1, %p2, %p3, %p4, []) : (!vm.ref<!hal.buffer>, i64, i64, i32, i32, i64 ...) -> !vm.ref<!hal.buffer_view>
    vm.return %r0 : !vm.ref<!hal.buffer_view>
  }
  vm.export @buffer_view_create_1
  vm.func private @buffer_view_create_1(%p0 : !vm.ref<!hal.buffer>, %p1 : i64, %p2 : i64, %p3 : i32, %p4 : i32, %p5 : i64) -> !vm.ref<!hal.buffer_view> {
    %r0 = vm.call.variadic @hal.buffer_view.create(%p0, %p1, %p2, %p3, %p4, [%p5]) : (!vm.ref<!hal.buffer>, i64, i64, i32, i32, i64 ...) -> !vm.ref<!hal.buffer_view>
    vm.return %r0 : !vm.ref<!hal.buffer_view>
  }
  vm.export @buffer_view_create_2
  vm.func private @buffer_view_create_2(%p0 : !vm.ref<!hal.buffer>, %p1 : i64, %p2 : i64, %p3 : i32, %p4 : i32, %p5 : i64, %p6 : i64) -> !vm.ref<!hal.buffer_view> {
    %r0 = vm.call.variadic @hal.buffer_view.create(%p0, %p1, %p2, %p3, %p4, [%p5, %p6]) : (!vm.ref<!hal.buffer>, i64, i64, i32, i32, i64 ...) -> !vm.ref<!hal.buffer_view>
    vm.return %r0 : !vm.ref<!hal.buffer_view>
  }
  vm.export @buffer_view_create_129
  vm.func private @buffer_view_create_129(%p0 : !vm.ref<!hal.buffer>, %p1 : i64, %p2 : i64, %p3 : i32, %p4 : i32, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64, %p14 : i64, %p15 : i64, %p16 : i64, %p17 : i64, %p18 : i64, %p19 : i64, %p20 : i64, %p21 : i64, %p22 : i64, %p23 : i64, %p24 : i64, %p25 : i64, %p26 : i64, %p27 : i64, %p28 : i64, %p29 : i64, %p30 : i64, %p31 : i64, %p32 : i64, %p33 : i64, %p34 : i64, %p35 : i64, %p36 : i64, %p37 : i64, %p38 : i64, %p39 : i64, %p40 : i64, %p41 : i64, %p42 : i64, %p43 : i64, %p44 : i64, %p45 : i64, %p46 : i64, %p47 : i64, %p48 : i64, %p49 : i64, %p50 : i64, %p51 : i64, %p52 : i64, %p53 : i64, %p54 : i64, %p55 : i64, %p56 : i64, %p57 : i64, %p58 : i64, %p59 : i64, %p60 : i64, %p61 : i64, %p62 : i64, %p63 : i64, %p64 : i64, %p65 : i64, %p66 : i64, %p67 : i64, %p68 : i64, %p69 : i64, %p70 : i64, %p71 : i64, %p72 : i64, %p73 : i64, %p74 : i64, %p75 : i64, %p76 : i64, %p77 : i64, %p78 : i64, %p79 : i64, %p80 : i64, %p81 : i64, %p82 : i64, %p83 : i64, %p84 : i64, %p85 : i64, %p86 : i64, %p87 : i64, %p88 : i64, %p89 : i64, %p90 : i64, %p91 : i64, %p92 : i64, %p93 : i64, %p94 : i64, %p95 : i64, %p96 : i64, %p97 : i64, %p98 : i64, %p99 : i64, %p100 : i64, %p101 : i64, %p102 : i64, %p103 : i64, %p104 : i64, %p105 : i64, %p106 : i64, %p107 : i64, %p108 : i64, %p109 : i64, %p110 : i64, %p111 : i64, %p112 : i64, %p113 : i64, %p114 : i64, %p115 : i64, %p116 : i64, %p117 : i64, %p118 : i64, %p119 : i64, %p120 : i64, %p121 : i64, %p122 : i64, %p123 : i64, %p124 : i64, %p125 : i64, %p126 : i64, %p127 : i64, %p128 : i64, %p129 : i64, %p130 : i64, %p131 : i64, %p132 : i64, %p133 : i64) -> !vm.ref<!hal.buffer_view> {
    %r0 = vm.call.variadic @hal.buffer_view.create(%p0, %p1, %p2, %p3, %p4, [%p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13, %p14, %p15, %p16, %p17, %p18, %p19, %p20, %p21, %p22, %p23, %p24, %p25, %p26, %p27, %p28, %p29, %p30, %p31, %p32, %p33, %p34, %p35, %p36, %p37, %p38, %p39, %p40, %p41, %p42, %p43, %p44, %p45, %p46, %p47, %p48, %p49, %p50, %p51, %p52, %p53, %p54, %p55, %p56, %p57, %p58, %p59, %p60, %p61, %p62, %p63, %p64, %p65, %p66, %p67, %p68, %p69, %p70, %p71, %p72, %p73, %p74, %p75, %p76, %p77, %p78, %p79, %p80, %p81, %p82, %p83, %p84, %p85, %p86, %p87, %p88, %p89, %p90, %p91, %p92, %p93, %p94, %p95, %p96, %p97, %p98, %p99, %p100, %p101, %p102, %p103, %p104, %p105, %p106, %p107, %p108, %p109, %p110, %p111, %p112, %p113, %p114, %p115, %p116, %p117, %p118, %p119, %p120, %p121, %p122, %p123, %p124, %p125, %p126, %p127, %p128, %p129, %p130, %p131, %p132, %p133]) : (!vm.ref<!hal.buffer>, i64, i64, i32, i32, i64 ...) -> !vm.ref<!hal.buffer_view>
    vm.return %r0 : !vm.ref<!hal.buffer_view>
  }
  vm.export @buffer_view_assert_0
  vm.func private @buffer_view_assert_0(%p0 : !vm.ref<!hal.buffer_view>, %p1 : !vm.buffer, %p2 : i32, %p3 : i32) {
    vm.call.variadic @hal.buffer_view.assert(%p0, %p1, %p2, %p3, []) : (!vm.ref<!hal.buffer_view>, !vm.buffer, i32, i32, i64 ...)
    vm.return
  }
  vm.export @buffer_view_assert_1
  vm.func private @buffer_view_assert_1(%p0 : !vm.ref<!hal.buffer_view>, %p1 : !vm.buffer, %p2 : i32, %p3 : i32, %p4 : i64) {
    vm.call.variadic @hal.buffer_view.assert(%p0, %p1, %p2, %p3, [%p4]) : (!vm.ref<!hal.buffer_view>, !vm.buffer, i32, i32, i64 ...)
    vm.return
  }
  vm.export @buffer_view_assert_2
  vm.func private @buffer_view_assert_2(%p0 : !vm.ref<!hal.buffer_view>, %p1 : !vm.buffer, %p2 : i32, %p3 : i32, %p4 : i64, %p5 : i64) {
    vm.call.variadic @hal.buffer_view.assert(%p0, %p1, %p2, %p3, [%p4, %p5]) : (!vm.ref<!hal.buffer_view>, !vm.buffer, i32, i32, i64 ...)
    vm.return
  }
  vm.export @buffer_view_assert_129
  vm.func private @buffer_view_assert_129(%p0 : !vm.ref<!hal.buffer_view>, %p1 : !vm.buffer, %p2 : i32, %p3 : i32, %p4 : i64, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64, %p14 : i64, %p15 : i64, %p16 : i64, %p17 : i64, %p18 : i64, %p19 : i64, %p20 : i64, %p21 : i64, %p22 : i64, %p23 : i64, %p24 : i64, %p25 : i64, %p26 : i64, %p27 : i64, %p28 : i64, %p29 : i64, %p30 : i64, %p31 : i64, %p32 : i64, %p33 : i64, %p34 : i64, %p35 : i64, %p36 : i64, %p37 : i64, %p38 : i64, %p39 : i64, %p40 : i64, %p41 : i64, %p42 : i64, %p43 : i64, %p44 : i64, %p45 : i64, %p46 : i64, %p47 : i64, %p48 : i64, %p49 : i64, %p50 : i64, %p51 : i64, %p52 : i64, %p53 : i64, %p54 : i64, %p55 : i64, %p56 : i64, %p57 : i64, %p58 : i64, %p59 : i64, %p60 : i64, %p61 : i64, %p62 : i64, %p63 : i64, %p64 : i64, %p65 : i64, %p66 : i64, %p67 : i64, %p68 : i64, %p69 : i64, %p70 : i64, %p71 : i64, %p72 : i64, %p73 : i64, %p74 : i64, %p75 : i64, %p76 : i64, %p77 : i64, %p78 : i64, %p79 : i64, %p80 : i64, %p81 : i64, %p82 : i64, %p83 : i64, %p84 : i64, %p85 : i64, %p86 : i64, %p87 : i64, %p88 : i64, %p89 : i64, %p90 : i64, %p91 : i64, %p92 : i64, %p93 : i64, %p94 : i64, %p95 : i64, %p96 : i64, %p97 : i64, %p98 : i64, %p99 : i64, %p100 : i64, %p101 : i64, %p102 : i64, %p103 : i64, %p104 : i64, %p105 : i64, %p106 : i64, %p107 : i64, %p108 : i64, %p109 : i64, %p110 : i64, %p111 : i64, %p112 : i64, %p113 : i64, %p114 : i64, %p115 : i64, %p116 : i64, %p117 : i64, %p118 : i64, %p119 : i64, %p120 : i64, %p121 : i64, %p122 : i64, %p123 : i64, %p124 : i64, %p125 : i64, %p126 : i64, %p127 : i64, %p128 : i64, %p129 : i64, %p130 : i64, %p131 : i64, %p132 : i64) {
    vm.call.variadic @hal.buffer_view.assert(%p0, %p1, %p2, %p3, [%p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13, %p14, %p15, %p16, %p17, %p18, %p19, %p20, %p21, %p22, %p23, %p24, %p25, %p26, %p27, %p28, %p29, %p30, %p31, %p32, %p33, %p34, %p35, %p36, %p37, %p38, %p39, %p40, %p41, %p42, %p43, %p44, %p45, %p46, %p47, %p48, %p49, %p50, %p51, %p52, %p53, %p54, %p55, %p56, %p57, %p58, %p59, %p60, %p61, %p62, %p63, %p64, %p65, %p66, %p67, %p68, %p69, %p70, %p71, %p72, %p73, %p74, %p75, %p76, %p77, %p78, %p79, %p80, %p81, %p82, %p83, %p84, %p85, %p86, %p87, %p88, %p89, %p90, %p91, %p92, %p93, %p94, %p95, %p96, %p97, %p98, %p99, %p100, %p101, %p102, %p103, %p104, %p105, %p106, %p107, %p108, %p109, %p110, %p111, %p112, %p113, %p114, %p115, %p116, %p117, %p118, %p119, %p120, %p121, %p122, %p123, %p124, %p125, %p126, %p127, %p128, %p129, %p130, %p131, %p132]) : (!vm.ref<!hal.buffer_view>, !vm.buffer, i32, i32, i64 ...)
    vm.return
  }
  vm.export @buffer_view_buffer
  vm.func private @buffer_view_buffer(%p0 : !vm.ref<!hal.buffer_view>) -> !vm.ref<!hal.buffer> {
    %r0 = vm.call @hal.buffer_view.buffer(%p0) : (!vm.ref<!hal.buffer_view>) -> !vm.ref<!hal.buffer>
    vm.return %r0 : !vm.ref<!hal.buffer>
  }
  vm.export @buffer_view_dim
  vm.func private @buffer_view_dim(%p0 : !vm.ref<!hal.buffer_view>, %p1 : i32) -> i64 {
    %r0 = vm.call @hal.buffer_view.dim(%p0, %p1) : (!vm.ref<!hal.buffer_view>, i32) -> i64
    vm.return %r0 : i64
  }
  vm.export @buffer_view_rank
  vm.func private @buffer_view_rank(%p0 : !vm.ref<!hal.buffer_view>) -> i32 {
    %r0 = vm.call @hal.buffer_view.rank(%p0) : (!vm.ref<!hal.buffer_view>) -> i32
    vm.return %r0 : i32
  }
  vm.export @buffer_view_element_type
  vm.func private @buffer_view_element_type(%p0 : !vm.ref<!hal.buffer_view>) -> i32 {
    %r0 = vm.call @hal.buffer_view.element_type(%p0) : (!vm.ref<!hal.buffer_view>) -> i32
    vm.return %r0 : i32
  }
  vm.export @buffer_view_encoding_type
  vm.func private @buffer_view_encoding_type(%p0 : !vm.ref<!hal.buffer_view>) -> i32 {
    %r0 = vm.call @hal.buffer_view.encoding_type(%p0) : (!vm.ref<!hal.buffer_view>) -> i32
    vm.return %r0 : i32
  }
  vm.export @buffer_view_trace_0
  vm.func private @buffer_view_trace_0(%p0 : !vm.buffer) {
    vm.call.variadic @hal.buffer_view.trace(%p0, []) : (!vm.buffer, !vm.ref<!hal.buffer_view> ...)
    vm.return
  }
  vm.export @buffer_view_trace_1
  vm.func private @buffer_view_trace_1(%p0 : !vm.buffer, %p1 : !vm.ref<!hal.buffer_view>) {
    vm.call.variadic @hal.buffer_view.trace(%p0, [%p1]) : (!vm.buffer, !vm.ref<!hal.buffer_view> ...)
    vm.return
  }
  vm.export @buffer_view_trace_2
  vm.func private @buffer_view_trace_2(%p0 : !vm.buffer, %p1 : !vm.ref<!hal.buffer_view>, %p2 : !vm.ref<!hal.buffer_view>) {
    vm.call.variadic @hal.buffer_view.trace(%p0, [%p1, %p2]) : (!vm.buffer, !vm.ref<!hal.buffer_view> ...)
    vm.return
  }
  vm.export @buffer_view_trace_129
  vm.func private @buffer_view_trace_129(%p0 : !vm.buffer, %p1 : !vm.ref<!hal.buffer_view>, %p2 : !vm.ref<!hal.buffer_view>, %p3 : !vm.ref<!hal.buffer_view>, %p4 : !vm.ref<!hal.buffer_view>, %p5 : !vm.ref<!hal.buffer_view>, %p6 : !vm.ref<!hal.buffer_view>, %p7 : !vm.ref<!hal.buffer_view>, %p8 : !vm.ref<!hal.buffer_view>, %p9 : !vm.ref<!hal.buffer_view>, %p10 : !vm.ref<!hal.buffer_view>, %p11 : !vm.ref<!hal.buffer_view>, %p12 : !vm.ref<!hal.buffer_view>, %p13 : !vm.ref<!hal.buffer_view>, %p14 : !vm.ref<!hal.buffer_view>, %p15 : !vm.ref<!hal.buffer_view>, %p16 : !vm.ref<!hal.buffer_view>, %p17 : !vm.ref<!hal.buffer_view>, %p18 : !vm.ref<!hal.buffer_view>, %p19 : !vm.ref<!hal.buffer_view>, %p20 : !vm.ref<!hal.buffer_view>, %p21 : !vm.ref<!hal.buffer_view>, %p22 : !vm.ref<!hal.buffer_view>, %p23 : !vm.ref<!hal.buffer_view>, %p24 : !vm.ref<!hal.buffer_view>, %p25 : !vm.ref<!hal.buffer_view>, %p26 : !vm.ref<!hal.buffer_view>, %p27 : !vm.ref<!hal.buffer_view>, %p28 : !vm.ref<!hal.buffer_view>, %p29 : !vm.ref<!hal.buffer_view>, %p30 : !vm.ref<!hal.buffer_view>, %p31 : !vm.ref<!hal.buffer_view>, %p32 : !vm.ref<!hal.buffer_view>, %p33 : !vm.ref<!hal.buffer_view>, %p34 : !vm.ref<!hal.buffer_view>, %p35 : !vm.ref<!hal.buffer_view>, %p36 : !vm.ref<!hal.buffer_view>, %p37 : !vm.ref<!hal.buffer_view>, %p38 : !vm.ref<!hal.buffer_view>, %p39 : !vm.ref<!hal.buffer_view>, %p40 : !vm.ref<!hal.buffer_view>, %p41 : !vm.ref<!hal.buffer_view>, %p42 : !vm.ref<!hal.buffer_view>, %p43 : !vm.ref<!hal.buffer_view>, %p44 : !vm.ref<!hal.buffer_view>, %p45 : !vm.ref<!hal.buffer_view>, %p46 : !vm.ref<!hal.buffer_view>, %p47 : !vm.ref<!hal.buffer_view>, %p48 : !vm.ref<!hal.buffer_view>, %p49 : !vm.ref<!hal.buffer_view>, %p50 : !vm.ref<!hal.buffer_view>, %p51 : !vm.ref<!hal.buffer_view>, %p52 : !vm.ref<!hal.buffer_view>, %p53 : !vm.ref<!hal.buffer_view>, %p54 : !vm.ref<!hal.buffer_view>, %p55 : !vm.ref<!hal.buffer_view>, %p56 : !vm.ref<!hal.buffer_view>, %p57 : !vm.ref<!hal.buffer_view>, %p58 : !vm.ref<!hal.buffer_view>, %p59 : !vm.ref<!hal.buffer_view>, %p60 : !vm.ref<!hal.buffer_view>, %p61 : !vm.ref<!hal.buffer_view>, %p62 : !vm.ref<!hal.buffer_view>, %p63 : !vm.ref<!hal.buffer_view>, %p64 : !vm.ref<!hal.buffer_view>, %p65 : !vm.ref<!hal.buffer_view>, %p66 : !vm.ref<!hal.buffer_view>, %p67 : !vm.ref<!hal.buffer_view>, %p68 : !vm.ref<!hal.buffer_view>, %p69 : !vm.ref<!hal.buffer_view>, %p70 : !vm.ref<!hal.buffer_view>, %p71 : !vm.ref<!hal.buffer_view>, %p72 : !vm.ref<!hal.buffer_view>, %p73 : !vm.ref<!hal.buffer_view>, %p74 : !vm.ref<!hal.buffer_view>, %p75 : !vm.ref<!hal.buffer_view>, %p76 : !vm.ref<!hal.buffer_view>, %p77 : !vm.ref<!hal.buffer_view>, %p78 : !vm.ref<!hal.buffer_view>, %p79 : !vm.ref<!hal.buffer_view>, %p80 : !vm.ref<!hal.buffer_view>, %p81 : !vm.ref<!hal.buffer_view>, %p82 : !vm.ref<!hal.buffer_view>, %p83 : !vm.ref<!hal.buffer_view>, %p84 : !vm.ref<!hal.buffer_view>, %p85 : !vm.ref<!hal.buffer_view>, %p86 : !vm.ref<!hal.buffer_view>, %p87 : !vm.ref<!hal.buffer_view>, %p88 : !vm.ref<!hal.buffer_view>, %p89 : !vm.ref<!hal.buffer_view>, %p90 : !vm.ref<!hal.buffer_view>, %p91 : !vm.ref<!hal.buffer_view>, %p92 : !vm.ref<!hal.buffer_view>, %p93 : !vm.ref<!hal.buffer_view>, %p94 : !vm.ref<!hal.buffer_view>, %p95 : !vm.ref<!hal.buffer_view>, %p96 : !vm.ref<!hal.buffer_view>, %p97 : !vm.ref<!hal.buffer_view>, %p98 : !vm.ref<!hal.buffer_view>, %p99 : !vm.ref<!hal.buffer_view>, %p100 : !vm.ref<!hal.buffer_view>, %p101 : !vm.ref<!hal.buffer_view>, %p102 : !vm.ref<!hal.buffer_view>, %p103 : !vm.ref<!hal.buffer_view>, %p104 : !vm.ref<!hal.buffer_view>, %p105 : !vm.ref<!hal.buffer_view>, %p106 : !vm.ref<!hal.buffer_view>, %p107 : !vm.ref<!hal.buffer_view>, %p108 : !vm.ref<!hal.buffer_view>, %p109 : !vm.ref<!hal.buffer_view>, %p110 : !vm.ref<!hal.buffer_view>, %p111 : !vm.ref<!hal.buffer_view>, %p112 : !vm.ref<!hal.buffer_view>, %p113 : !vm.ref<!hal.buffer_view>, %p114 : !vm.ref<!hal.buffer_view>, %p115 : !vm.ref<!hal.buffer_view>, %p116 : !vm.ref<!hal.buffer_view>, %p117 : !vm.ref<!hal.buffer_view>, %p118 : !vm.ref<!hal.buffer_view>, %p119 : !vm.ref<!hal.buffer_view>, %p120 : !vm.ref<!hal.buffer_view>, %p121 : !vm.ref<!hal.buffer_view>, %p122 : !vm.ref<!hal.buffer_view>, %p123 : !vm.ref<!hal.buffer_view>, %p124 : !vm.ref<!hal.buffer_view>, %p125 : !vm.ref<!hal.buffer_view>, %p126 : !vm.ref<!hal.buffer_view>, %p127 : !vm.ref<!hal.buffer_view>, %p128 : !vm.ref<!hal.buffer_view>, %p129 : !vm.ref<!hal.buffer_view>) {
    vm.call.variadic @hal.buffer_view.trace(%p0, [%p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13, %p14, %p15, %p16, %p17, %p18, %p19, %p20, %p21, %p22, %p23, %p24, %p25, %p26, %p27, %p28, %p29, %p30, %p31, %p32, %p33, %p34, %p35, %p36, %p37, %p38, %p39, %p40, %p41, %p42, %p43, %p44, %p45, %p46, %p47, %p48, %p49, %p50, %p51, %p52, %p53, %p54, %p55, %p56, %p57, %p58, %p59, %p60, %p61, %p62, %p63, %p64, %p65, %p66, %p67, %p68, %p69, %p70, %p71, %p72, %p73, %p74, %p75, %p76, %p77, %p78, %p79, %p80, %p81, %p82, %p83, %p84, %p85, %p86, %p87, %p88, %p89, %p90, %p91, %p92, %p93, %p94, %p95, %p96, %p97, %p98, %p99, %p100, %p101, %p102, %p103, %p104, %p105, %p106, %p107, %p108, %p109, %p110, %p111, %p112, %p113, %p114, %p115, %p116, %p117, %p118, %p119, %p120, %p121, %p122, %p123, %p124, %p125, %p126, %p127, %p128, %p129]) : (!vm.buffer, !vm.ref<!hal.buffer_view> ...)
    vm.return
  }
}
