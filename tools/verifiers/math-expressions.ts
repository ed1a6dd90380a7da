/** Expressions and equations as models write them. */
import { type Draw, type Family, wrappings } from "./math-numbers.ts";

const R = String.raw;

const GREEK = [
  ["alpha", "α"],
  ["beta", "β"],
  ["theta", "θ"],
  ["lambda", "λ"],
  ["omega", "ω"],
  ["phi", "φ"],
  ["Delta", "Δ"],
  ["mu", "μ"],
] as const;

const polynomial: Draw = (random) => {
  const [a, b, c] = [random.int(2, 9), random.int(1, 9), random.int(1, 9)];
  const expected = `${a}x^2+${b}x-${c}`;
  return {
    expected,
    responses: [
      `${a}x^2 + ${b}x - ${c}`,
      `-${c}+${b}x+${a}x^2`,
      `${a}x^{2}+${b}x-${c}`,
      `${a}*x^2+${b}*x-${c}`,
      R`${a} \cdot x^2 + ${b} \cdot x - ${c}`,
      `x(${a}x+${b})-${c}`,
      `${a}x²+${b}x-${c}`,
      `${a}x**2+${b}x-${c}`,
      `${a}x^2+${b}x+${c}`,
      `${a}y^2+${b}y-${c}`,
      `${a}X^2+${b}X-${c}`,
      `f(x)=${expected}`,
      `f(x) = ${expected}`,
      `y=${expected}`,
      `${expected}=0`,
      `P(x)=${expected}`,
      R`f(x) = \boxed{${expected}}`,
      R`${a}\left(x+\frac{${b}}{${2 * a}}\right)^2-${c}-\frac{${b * b}}{${4 * a}}`,
      R`\frac{${2 * a}x^2+${2 * b}x-${2 * c}}{2}`,
      ...wrappings(expected).slice(0, 16),
    ],
  };
};

const greekExpression: Draw = (random) => {
  const [name, sign] = random.pick(GREEK);
  const [other, otherSign] = random.pick(GREEK);
  const n = random.int(2, 9);
  const expected = random.pick([`\\frac{\\${name}}{${n}}`, `${n}\\${name}`, `\\${name}+\\${other}`]);
  const unicode = expected.replaceAll(`\\${name}`, sign).replaceAll(`\\${other}`, otherSign);
  return {
    expected,
    responses: [
      unicode,
      expected.replace("frac", "dfrac"),
      unicode.replaceAll(sign, name),
      `${expected}+1`,
      expected.replaceAll(name, "psi"),
      R`\text{${unicode}}`,
      ` ${unicode} `,
      unicode.replaceAll(sign, "x"),
      expected.replaceAll(`\\${name}`, `\\var${name}`),
    ],
  };
};

const equation: Draw = (random) => {
  const [a, b, c] = [random.int(2, 9), random.int(2, 9), random.int(1, 9)];
  return random.pick<Family>([
    {
      expected: R`y = \frac{${a}}{${b}}x + ${c}`,
      responses: [
        R`y = \dfrac{${a}}{${b}}x + ${c}`,
        R`y=\frac{${a}x}{${b}}+${c}`,
        R`y = \tfrac{${a}}{${b}} x + ${c}`,
        `y=${a}/${b}x+${c}`,
        R`${b}y = ${a}x + ${b * c}`,
        R`${a}x - ${b}y + ${b * c} = 0`,
        R`\frac{${a}}{${b}}x + ${c}`,
        R`y = \frac{${a}}{${b}}x - ${c}`,
        R`y - \frac{${a}}{${b}}x = ${c}`,
        R`f(x) = \frac{${a}}{${b}}x + ${c}`,
        R`x = \frac{${a}}{${b}}y + ${c}`,
        R`\text{The line is } y = \frac{${a}}{${b}}x + ${c}`,
      ],
    },
    {
      expected: R`\frac{x^2}{${a * a}} + \frac{y^2}{${b * b}} = 1`,
      responses: [
        R`\dfrac{x^2}{${a * a}} + \dfrac{y^2}{${b * b}} = 1`,
        `x^2/${a * a}+y^2/${b * b}=1`,
        R`${b * b}x^2 + ${a * a}y^2 = ${a * a * b * b}`,
        R`\frac{y^2}{${b * b}} + \frac{x^2}{${a * a}} = 1`,
        R`\left(\frac{x}{${a}}\right)^2+\left(\frac{y}{${b}}\right)^2=1`,
        R`\frac{x^2}{${a * a}} - \frac{y^2}{${b * b}} = 1`,
        R`\frac{x^2}{${a * a}} + \frac{y^2}{${b * b}} - 1 = 0`,
        "1",
        R`{x^2 \over ${a * a}} + {y^2 \over ${b * b}} = 1`,
      ],
    },
    {
      expected: `(x-${a})^2+(y+${b})^2=${c * c}`,
      responses: [
        `(x - ${a})^2 + (y + ${b})^2 = ${c * c}`,
        `(y+${b})^2+(x-${a})^2=${c}^2`,
        `x^2-${2 * a}x+y^2+${2 * b}y+${a * a + b * b - c * c}=0`,
        `(x-${a})^2+(y+${b})^2=${c}`,
        `(x+${a})^2+(y-${b})^2=${c * c}`,
        R`\left(x-${a}\right)^{2}+\left(y+${b}\right)^{2}=${c * c}`,
        `(x-${a})^2+(y+${b})^2-${c * c}`,
      ],
    },
    {
      expected: R`x = \frac{${a}}{${b}}`,
      responses: [
        R`x = \dfrac{${a}}{${b}}`,
        R`\dfrac{${a}}{${b}}`,
        `${a}/${b}`,
        R`x=${a}/${b}`,
        R`\frac{${a}}{${b}} = x`,
        R`y = \frac{${a}}{${b}}`,
        R`${b}x = ${a}`,
        R`x = \frac{${2 * a}}{${2 * b}} = \frac{${a}}{${b}}`,
        R`x = -\frac{${a}}{${b}}`,
        R`x_1 = \frac{${a}}{${b}}`,
        R`X = \frac{${a}}{${b}}`,
      ],
    },
    {
      expected: R`f(x) = \frac{${a}x}{${b}} + C`,
      responses: [
        R`f(x)=\dfrac{${a}x}{${b}}+C`,
        R`\frac{${a}x}{${b}}+C`,
        R`f(x) = \frac{${a}}{${b}}x + C`,
        R`f(x)=\frac{${a}x}{${b}}`,
        R`g(x)=\frac{${a}x}{${b}}+C`,
        R`\frac{${a}x}{${b}}+c`,
        R`\frac{${a}x}{${b}} + \text{C}`,
      ],
    },
    {
      expected: R`(x, y) = \left(\frac{${a}}{${b}}, ${c}\right)`,
      responses: [
        R`(x,y)=\left(\dfrac{${a}}{${b}},${c}\right)`,
        R`\left(\dfrac{${a}}{${b}},${c}\right)`,
        R`x=\frac{${a}}{${b}}, y=${c}`,
        R`\left(${c}, \frac{${a}}{${b}}\right)`,
        R`x=\dfrac{${a}}{${b}} \text{ and } y=${c}`,
        R`(${a}/${b}, ${c})`,
        R`\frac{${a}}{${b}}, ${c}`,
      ],
    },
  ]);
};

const complexNumber: Draw = (random) => {
  const [a, b] = [random.int(1, 9), random.int(2, 9)];
  return {
    expected: `${a}+${b}i`,
    responses: [
      `${a} + ${b}i`,
      `${b}i+${a}`,
      R`${a}+${b}\text{i}`,
      R`${a}+${b}\mathrm{i}`,
      `${a}+i${b}`,
      R`${a}+${b}\cdot i`,
      `${a}-${b}i`,
      `${a}+${b}j`,
      `${a}+${b}I`,
      R`${a}+${b}\sqrt{-1}`,
      `z = ${a}+${b}i`,
      `(${a}, ${b})`,
      R`\frac{${2 * a}+${2 * b}i}{2}`,
      `${b}+${a}i`,
      R`${a}+${b}\imath`,
    ],
  };
};

const logarithm: Draw = (random) => {
  const [a, b] = [random.int(2, 9), random.int(2, 9)];
  return random.pick<Family>([
    {
      expected: R`\ln ${a}`,
      responses: [
        R`\ln(${a})`,
        R`\ln{${a}}`,
        `ln ${a}`,
        `ln(${a})`,
        R`\log ${a}`,
        R`\log_e ${a}`,
        Math.log(a).toFixed(6),
        Math.log(a).toFixed(3),
        R`\frac{\ln ${a * a}}{2}`,
        R`\log_{10} ${a}`,
        R`-\ln \frac{1}{${a}}`,
      ],
    },
    {
      expected: R`\log_{${a}} ${b}`,
      responses: [
        R`\log_${a} ${b}`,
        R`\log_{${a}}(${b})`,
        R`\frac{\ln ${b}}{\ln ${a}}`,
        R`\frac{\log ${b}}{\log ${a}}`,
        R`\log_{${b}} ${a}`,
        R`\log ${b}`,
        R`\log_${a}${b}`,
        (Math.log(b) / Math.log(a)).toFixed(8),
      ],
    },
    {
      expected: `e^{${a}} - ${b}`,
      responses: [
        `e^${a}-${b}`,
        R`\exp(${a})-${b}`,
        R`\mathrm{e}^{${a}}-${b}`,
        (Math.exp(a) - b).toFixed(6),
        `-${b}+e^{${a}}`,
        `e^{${a}}+${b}`,
        R`\text{e}^{${a}} - ${b}`,
      ],
    },
  ]);
};

const trigonometric: Draw = (random) => {
  const a = random.int(2, 9);
  return random.pick<Family>([
    {
      expected: R`${a}\sin x \cos x`,
      responses: [
        R`${a}\sin(x)\cos(x)`,
        R`${a} \cos x \sin x`,
        R`\frac{${a}}{2}\sin 2x`,
        R`\frac{${a}}{2} \sin(2x)`,
        R`${a}\sin{x}\cos{x}`,
        `${a}sin(x)cos(x)`,
        R`${a}\sin x`,
        R`${a}\tan x \cos^2 x`,
      ],
    },
    {
      expected: R`\sec^2 x`,
      responses: [R`1+\tan^2 x`, R`\frac{1}{\cos^2 x}`, R`\sec^2(x)`, R`(\sec x)^2`, R`\sec^{2}{x}`, R`\sec x`, R`\frac{1}{\cos^2(x)}`],
    },
    {
      expected: R`\arctan ${a}`,
      responses: [
        R`\tan^{-1} ${a}`,
        R`\tan^{-1}(${a})`,
        R`\arctan(${a})`,
        R`\operatorname{arctan} ${a}`,
        R`\text{arctan}(${a})`,
        Math.atan(a).toFixed(7),
        R`\arcsin ${a}`,
        R`\operatorname{arctg} ${a}`,
        R`\frac{\pi}{2} - \arctan \frac{1}{${a}}`,
      ],
    },
  ]);
};

export const EXPRESSIONS: Readonly<Record<string, Draw>> = { polynomial, greekExpression, equation, complexNumber, logarithm, trigonometric };
