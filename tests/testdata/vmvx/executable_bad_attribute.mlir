// An executable whose attribute is no number.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @module {
  vm.export @run
  vm.func private @run(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {binding_count = "many"}} {
    vm.return
  }
}
