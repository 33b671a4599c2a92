// Functions that say, well or badly, how their calls compete for workers. Each
// tells the native module "probe" that it has run.
// Compile: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --iree-vm-bytecode-module-strip-source-map -o %t.vmfb
module @jobs {
  func.func private @probe.mark(i32)
  func.func @plain(%id: i32) {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
  func.func @urgent(%id: i32)
      attributes {iree.reflection = {"takt.priority" = "200"}} {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
  func.func @due_in_an_hour(%id: i32)
      attributes {iree.reflection = {"takt.deadline_ns" = "3600000000000"}} {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
  func.func @pinned(%id: i32)
      attributes {iree.reflection = {"takt.affinity" = "0x1"}} {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
  func.func @pinned_elsewhere(%id: i32)
      attributes {iree.reflection = {"takt.affinity" = "8000-8001"}} {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
  func.func @bad_priority(%id: i32)
      attributes {iree.reflection = {"takt.priority" = "256"}} {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
  func.func @bad_deadline(%id: i32)
      attributes {iree.reflection = {"takt.deadline_ns" = "5ms"}} {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
  func.func @bad_affinity(%id: i32)
      attributes {iree.reflection = {"takt.affinity" = "0x"}} {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
  func.func @fast_only(%id: i32)
      attributes {iree.reflection = {"takt.isa" = "xfast, v"}} {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
  func.func @fast_only_on_slow(%id: i32)
      attributes {iree.reflection = {"takt.isa" = "xfast",
                                     "takt.affinity" = "8002-8003"}} {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
  func.func @impossible(%id: i32)
      attributes {iree.reflection = {"takt.isa" = "xfast,xnone"}} {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
  func.func @bad_isa(%id: i32)
      attributes {iree.reflection = {"takt.isa" = " , "}} {
    call @probe.mark(%id) : (i32) -> ()
    return
  }
}
