/** Lanczos' coefficients for g = 7 (Numerical Recipes, section 6.1); 15 digits. */
const G = 7;
const COEFFICIENTS = [
  0.999_999_999_999_809_93, 676.520_368_121_885_1, -1_259.139_216_722_402_8, 771.323_428_777_653_13, -176.615_029_162_140_59, 12.507_343_278_686_905,
  -0.138_571_095_265_720_12, 9.984_369_578_019_571_6e-6, 1.505_632_735_149_311_6e-7,
];

/** x! of a real number, as gamma(x + 1): NaN at negative whole numbers, infinite beyond what a double holds. */
export function factorial(x: number): number {
  if (x > 170.6) return Number.POSITIVE_INFINITY;
  if (x < -0.5) return Number.isInteger(x) ? Number.NaN : Math.PI / (Math.sin(Math.PI * -x) * factorial(-x - 1));
  const t = x + G + 0.5;
  const series = COEFFICIENTS.reduce((sum, coefficient, index) => (index === 0 ? coefficient : sum + coefficient / (x + index)));
  return Math.sqrt(2 * Math.PI) * t ** (x + 0.5) * Math.exp(-t) * series;
}
