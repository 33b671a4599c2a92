// An executable whose function takes too little.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @module {
  vm.export @run
  vm.func private @run(%local : !vm.buffer) {
    vm.return
  }
}
