/** Numbers as models write them: each family draws an expected answer, and forms that say the same, nearly the same or something else. */
import type { Random } from "../../test/simulation/world/random.ts";

/** An expected answer and the responses that it is compared with. */
export interface Family {
  readonly expected: string;
  readonly responses: readonly string[];
}
export type Draw = (random: Random) => Family;

const R = String.raw;
const grouped = (n: number, comma = ","): string => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, comma);
const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
const places = (x: number, digits: number): string => String(Number(x.toFixed(digits)));

/** What stands around an answer whatever it is. */
export const wrappings = (a: string): string[] => [
  ` ${a} `,
  `$${a}$`,
  R`\(${a}\)`,
  R`\[${a}\]`,
  `{${a}}`,
  `${a}.`,
  `${a},`,
  R`\boxed{${a}}`,
  `= ${a}`,
  `=${a}`,
  R`\approx ${a}`,
  `x = ${a}`,
  `x=${a}`,
  R`x \approx ${a}`,
  R`\text{Answer: } ${a}`,
  R`\large ${a}`,
  R`\Large ${a}`,
  R`\displaystyle ${a}`,
  R`\mathbf{${a}}`,
  R`\bf ${a}`,
  R`\textbf{${a}}`,
  R`\text{${a}}`,
  R`\left(${a}\right)`,
  R`(${a})`,
  R`${a}\,`,
  R`\quad ${a}`,
  R`${a} \\`,
  R`\color{blue}{${a}}`,
];

const UNITS = [
  R`\text{ cm}`,
  R`\text{ cm}^2`,
  R`\mbox{ inches}`,
  R`\ \mathrm{m/s}`,
  R`\text{ dollars}`,
  " cm",
  " meters",
  " miles per hour",
  " apples",
  " m",
  " s",
  " kg",
  R`^\circ`,
  R`\degree`,
  "°",
  R` \text{ square units}`,
  R`\,\text{km/h}`,
  R` \text{units}^3`,
  R`\text{ ways}`,
];

const integer: Draw = (random) => {
  const n = random.chance(0.4) ? random.int(2, 20) : random.int(21, 99_999);
  const sign = random.chance(0.2) ? "-" : "";
  const a = `${sign}${n}`;
  const forms = [
    `${a}.0`,
    `${a}.00`,
    `+${a}`,
    `0${n}`,
    R`\$${a}`,
    `$${n}`,
    `€${n}`,
    R`${a}\%`,
    `${a}%`,
    `${a} percent`,
    `${n * 100}\\%`,
    R`\frac{${sign}${2 * n}}{2}`,
    `${sign}${2 * n}/2`,
    R`${a} \times 1`,
    `${a}+0`,
    `${n - 1} + 1`,
    `(${a})`,
    R`\sqrt{${n * n}}`,
    `${a}e0`,
    `${sign}${grouped(n)}`,
    `${sign}${grouped(n, R`,\!`)}`,
    `${sign}${grouped(n, "{,}")}`,
    `${sign}${grouped(n, R`\,`)}`,
    `${sign}${grouped(n, " ")}`,
    `${sign}${grouped(n, ".")}`,
    `−${n}`,
    `${a}.5`,
    `${n + 1}`,
    `-${n}`,
    `${n}0`,
    `${a}, ${n + 1}`,
    `${a} \\text{ or } ${n + 1}`,
    `\\pm ${n}`,
    `${a}x`,
    `${n}!`,
    `${a}_{10}`,
    `x > ${a}`,
    `${a}.${"0".repeat(7)}1`,
    `|${a}|`,
    `-(${-Number(a)})`,
    `${a}^1`,
    `\\{${a}\\}`,
    `[${a}]`,
    `n = ${a} \\text{ or } n = ${n + 2}`,
    `${a} \\text{ (approximately)}`,
    `\\text{about } ${a}`,
    `1000 + ${n} - 1000`,
  ];
  return { expected: a, responses: [...forms, ...wrappings(a), ...UNITS.map((unit) => a + unit)] };
};

const quantity: Draw = (random) => {
  const n = random.int(2, 500);
  const [unit, other] = [random.pick(UNITS), random.pick(UNITS)];
  const a = `${n}${unit}`;
  return {
    expected: a,
    responses: [`${n}`, `${n}${other}`, `${n + 1}${unit}`, `${n}.0${unit}`, `${n} ${unit}`, `x = ${a}`, R`\approx ${a}`, `${a}.`, `$${a}$`],
  };
};

const fraction: Draw = (random) => {
  const q = random.int(2, 40);
  let p = random.int(1, 60);
  while (gcd(p, q) !== 1) p = random.int(1, 60);
  const sign = random.chance(0.25) ? "-" : "";
  const value = (sign === "-" ? -1 : 1) * (p / q);
  const a = R`${sign}\frac{${p}}{${q}}`;
  const whole = Math.floor(p / q);
  const mixed =
    whole > 0 && q > 1
      ? [R`${sign}${whole}\frac{${p % q}}{${q}}`, R`${sign}${whole} \frac{${p % q}}{${q}}`, `${sign}${whole} ${p % q}/${q}`, R`${whole}+\frac{${p % q}}{${q}}`]
      : [];
  return {
    expected: a,
    responses: [
      ...mixed,
      R`${sign}\dfrac{${p}}{${q}}`,
      R`${sign}\tfrac{${p}}{${q}}`,
      R`${sign}\cfrac{${p}}{${q}}`,
      R`\frac{${sign}${p}}{${q}}`,
      R`\frac{${p}}{${sign}${q}}`,
      R`${sign}\frac{${3 * p}}{${3 * q}}`,
      `${sign}${p}/${q}`,
      `(${sign}${p})/(${q})`,
      `${sign}${p} / ${q}`,
      R`${sign}{${p}}\over{${q}}`,
      R`${sign}{${p} \over ${q}}`,
      R`${sign}${p} \div ${q}`,
      `${sign}${p}:${q}`,
      R`\frac${p}${q}`,
      R`\frac{${p}}${q}`,
      places(value, 2),
      places(value, 4),
      places(value, 6),
      places(value, 12),
      R`${places(value * 100, 4)}\%`,
      R`${sign}\frac{${p + 1}}{${q}}`,
      R`${sign}\frac{${q}}{${p}}`,
      R`\frac{${p}x}{${q}x}`,
      R`${sign}${p} \cdot ${q}^{-1}`,
      R`${sign}\frac{${p}}{${q}} \text{ cm}`,
      R`P = ${sign}\dfrac{${p}}{${q}}`,
      R`${sign}\frac{${p}}{${q}} \approx ${places(value, 3)}`,
      R`\frac{${p}}{${q}}, ${sign}\frac{${p}}{${q}}`,
      R`\frac{${p}\sqrt{1}}{${q}}`,
      ...wrappings(a),
    ],
  };
};

const decimal: Draw = (random) => {
  const digits = random.int(1, 4);
  const n = random.int(1, 9_999);
  const a = (n / 10 ** digits).toFixed(digits);
  const value = Number(a);
  return {
    expected: a,
    responses: [
      `${a}0`,
      a.replace(/^0/, ""),
      R`\frac{${n}}{${10 ** digits}}`,
      R`\$${a}`,
      R`${a}\%`,
      R`${places(value * 100, 6)}\%`,
      R`${places(value * 100, 6)} \text{ percent}`,
      a.replace(".", ","),
      a.replace(".", "{.}"),
      `${a}01`,
      `${a}0000004`,
      places(value, digits - 1),
      (value + 10 ** -digits).toFixed(digits),
      `${n}e-${digits}`,
      R`${n} \times 10^{-${digits}}`,
      R`\text{approximately } ${a}`,
      R`\sim ${a}`,
      `≈ ${a}`,
      `${a}...`,
      R`${a}\ldots`,
      ...wrappings(a).slice(0, 14),
      ...UNITS.slice(0, 7).map((unit) => a + unit),
    ],
  };
};

const percent: Draw = (random) => {
  const n = random.pick([5, 10, 12.5, 20, 25, 33, 50, 75, 99, 100, 120, 0.5]);
  const a = R`${n}\%`;
  return {
    expected: a,
    responses: [
      `${n}`,
      `${n}%`,
      `${n} %`,
      `${n}.0`,
      `${n} percent`,
      R`${n}\text{ percent}`,
      places(n / 100, 6),
      R`\frac{${n}}{100}`,
      R`${n + 1}\%`,
      `${n + 1}`,
      R`-${n}\%`,
      R`x = ${n}\%`,
      R`= ${n}\%`,
      R`\approx ${n}\%`,
      R`${n} \text{ percentage points}`,
      R`${n}.00\%`,
      `${n}/100`,
      R`${n}\,\%`,
      R`\text{${n}\%}`,
    ],
  };
};

const repeating: Draw = (random) => {
  const k = random.int(1, 98);
  const digits = String(k).padStart(2, "0");
  const a = R`0.\overline{${digits}}`;
  return {
    expected: random.chance(0.5) ? a : R`\frac{${k}}{99}`,
    responses: [
      a,
      `${k}/99`,
      R`0.${digits}\overline{${digits}}`,
      `0.${digits}${digits}${digits}`,
      `0.${digits}${digits}${digits}...`,
      R`0.\dot{${digits[0]}}\dot{${digits[1]}}`,
      R`0.${digits}${digits}\ldots`,
      R`0.${digits}`,
      R`0.\overline{${digits}1}`,
      R`0.\bar{${digits}}`,
      R`\frac{${k + 1}}{99}`,
      `0.(${digits})`,
    ],
  };
};

const scientific: Draw = (random) => {
  const [m, e] = [random.int(11, 99) / 10, random.int(2, 9)];
  const minus = random.chance(0.3) ? "-" : "";
  const a = R`${m} \times 10^{${minus}${e}}`;
  return {
    expected: random.chance(0.3) ? `${a}\\text{ m}` : a,
    responses: [
      a,
      R`${m}\times10^${minus === "" ? e : `{-${e}}`}`,
      R`${m} \cdot 10^{${minus}${e}}`,
      `${m}*10^{${minus}${e}}`,
      `${m}e${minus}${e}`,
      `${m}E${minus}${e}`,
      `${m} x 10^${minus}${e}`,
      `${m} × 10^${minus}${e}`,
      R`${m * 10} \times 10^{${minus}${minus === "" ? e - 1 : e + 1}}`,
      minus === "" ? places(m * 10 ** e, 0) : (m * 10 ** -e).toFixed(e + 1),
      R`${m} \times 10^{${minus}${e + 1}}`,
      R`${a} \text{ m}`,
      R`${a} \text{ m/s}`,
      R`${a}\ \mathrm{kg}`,
      R`${a} \text{ m}^3`,
      `${a} m`,
      R`${a} \; \text{J}`,
      R`${a}\,\text{N}\cdot\text{m}`,
      R`x = ${a}`,
      R`\approx ${a}`,
    ],
  };
};

const surd: Draw = (random) => {
  const [a, b, n] = [random.int(2, 12), random.int(2, 12), random.pick([2, 3, 5, 6, 7, 10, 11, 13])];
  const value = (a * Math.sqrt(n)) / b;
  const expected = R`\frac{${a}\sqrt{${n}}}{${b}}`;
  return {
    expected,
    responses: [
      R`\dfrac{${a}\sqrt{${n}}}{${b}}`,
      R`\frac{${a}}{${b}}\sqrt{${n}}`,
      R`${a}\sqrt{${n}}/${b}`,
      R`\frac{${a}\sqrt${n}}{${b}}`,
      R`\frac{\sqrt{${a * a * n}}}{${b}}`,
      R`\frac{${a * n}}{${b}\sqrt{${n}}}`,
      R`${a}√${n}/${b}`,
      `${a}*sqrt(${n})/${b}`,
      R`\frac{${a} \cdot ${n}^{1/2}}{${b}}`,
      R`\sqrt{\frac{${a * a * n}}{${b * b}}}`,
      R`{${a}\sqrt{${n}} \over ${b}}`,
      places(value, 3),
      places(value, 6),
      places(value, 10),
      R`\frac{${a}\sqrt{${n + 1}}}{${b}}`,
      R`\frac{${a + 1}\sqrt{${n}}}{${b}}`,
      R`-\frac{${a}\sqrt{${n}}}{${b}}`,
      R`\frac{${a}\sqrt{${n}}}{${b}} \text{ units}`,
      R`\frac{${a}\sqrt[2]{${n}}}{${b}}`,
      ...wrappings(expected).slice(0, 12),
    ],
  };
};

const multipleOfPi: Draw = (random) => {
  const [p, q] = [random.int(1, 30), random.int(2, 12)];
  const expected = random.chance(0.5) ? R`\frac{${p}\pi}{${q}}` : R`${p}\pi`;
  const over = expected.startsWith("\\frac") ? q : 1;
  const value = (p * Math.PI) / over;
  return {
    expected,
    responses: [
      R`\frac{${p}}{${over}}\pi`,
      R`${p}\pi/${over}`,
      `${p}π/${over}`,
      `${p}pi/${over}`,
      R`\frac{${p}π}{${over}}`,
      R`\dfrac{\pi \cdot ${p}}{${over}}`,
      R`\frac{${2 * p}\pi}{${2 * over}}`,
      places(value, 2),
      places(value, 6),
      places(value, 10),
      R`\frac{${p}\pi}{${over}} \text{ rad}`,
      R`\frac{${p}\pi}{${over}}\text{ cm}^2`,
      R`\frac{${p}}{${over}}`,
      R`\frac{${p + 1}\pi}{${over}}`,
      R`-\frac{${p}\pi}{${over}}`,
      R`\frac{${p}\Pi}{${over}}`,
      R`${p}\pi \text{ square inches}`,
    ],
  };
};

const money: Draw = (random) => {
  const cents = random.int(100, 999_999);
  const amount = (cents / 100).toFixed(2);
  const a = R`\$${amount}`;
  return {
    expected: random.chance(0.5) ? a : amount,
    responses: [
      a,
      amount,
      `$${amount}`,
      R`\$${amount.replace(/\B(?=(\d{3})+(?!\d)\.)/g, ",")}`,
      R`\$ ${amount}`,
      R`${amount} \text{ dollars}`,
      `${amount} dollars`,
      `US$${amount}`,
      R`\text{\$}${amount}`,
      R`\text{USD } ${amount}`,
      `£${amount}`,
      R`${cents} \text{ cents}`,
      R`\$${(cents / 100 + 0.01).toFixed(2)}`,
      R`${amount}\$`,
      R`${amount} \text{ euros}`,
      R`\$${amount} \text{ per hour}`,
    ],
  };
};

export const NUMBERS: Readonly<Record<string, Draw>> = { integer, quantity, fraction, decimal, percent, repeating, scientific, surd, multipleOfPi, money };
