/** 97.5 % point of the normal distribution. */
const Z = 1.959963984540054;

/** Wilson's 95 % score interval for `passes` of `n` independent attempts, n >= 1; a part of a pass counts as such. Never of zero width; ends exactly at 0 and 1. */
export function wilsonInterval(passes: number, n: number): readonly [number, number] {
  const share = passes / n;
  const scale = 1 + Z ** 2 / n;
  const centre = (share + Z ** 2 / (2 * n)) / scale;
  const half = (Z * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2))) / scale;
  return [passes === 0 ? 0 : centre - half, passes === n ? 1 : centre + half];
}
