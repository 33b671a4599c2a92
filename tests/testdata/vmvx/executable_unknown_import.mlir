// An executable that imports what there is not.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @module {
  vm.import private @vmvx.transmogrify(%a : i32)
  vm.export @run
  vm.func private @run(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) {
    vm.call @vmvx.transmogrify(%x) : (i32) -> ()
    vm.return
  }
}
