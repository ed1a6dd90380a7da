/** Next value of a 32-bit mixing sequence (splitmix32): a good bit spread from any start, in a few operations. */
export function mix(state: number): number {
  let z = (state + 0x9e3779b9) | 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
}

/** `mix` from a seed that may be any safe integer: its upper half is mixed in, so that none of it is lost. */
export const mixSeed = (seed: number): number => mix(mix(seed >>> 0) ^ Math.floor(seed / 2 ** 32));
