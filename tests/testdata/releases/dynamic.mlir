// One dynamic dimension, by each release of the compiler since 3.8, with and without debug symbols: kernels get
// the size as a constant. Up to 3.11, ELF files without symbols have no names of functions either.
// Variants: v38.cpu v38.cpusymbols v38.vmvx v39.cpu v39.vmvx v310.cpu v310.cpusymbols v310.vmvx v311.cpu v311.cpusymbols v311.vmvx
// Run: --input=5xf32=1 --input=5xf32=2
func.func @dadd(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
