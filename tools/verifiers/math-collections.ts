/** Answers of several parts: inequalities, sets, lists, points, matrices. */
import type { Draw, Family } from "./math-numbers.ts";

const R = String.raw;

const inequality: Draw = (random) => {
  const [a, b] = [random.int(-9, 4), random.int(5, 14)];
  return random.pick<Family>([
    {
      expected: `x > ${b}`,
      responses: [
        `x>${b}`,
        `${b} < x`,
        R`(${b},\infty)`,
        R`(${b}, +\infty)`,
        R`x \in (${b}, \infty)`,
        `x >= ${b}`,
        R`x \geq ${b}`,
        `x < ${b}`,
        `y > ${b}`,
        `2x > ${2 * b}`,
        `-x < -${b}`,
        R`]${b}, \infty[`,
        R`x \gt ${b}`,
        R`\{x \mid x > ${b}\}`,
        `${b}`,
      ],
    },
    {
      expected: R`x \le ${b}`,
      responses: [
        R`x \leq ${b}`,
        R`x \leqslant ${b}`,
        `x <= ${b}`,
        `x ≤ ${b}`,
        R`(-\infty, ${b}]`,
        R`${b} \ge x`,
        `x < ${b}`,
        R`x \geq ${b}`,
        R`\{x : x \le ${b}\}`,
        R`x \leq ${b}.0`,
        R`x \in (-\infty,${b}]`,
      ],
    },
    {
      expected: R`${a} < x \leq ${b}`,
      responses: [
        `(${a}, ${b}]`,
        R`x \in (${a},${b}]`,
        R`${b} \geq x > ${a}`,
        `[${a}, ${b}]`,
        R`${a} \leq x \leq ${b}`,
        R`\left(${a},${b}\right]`,
        R`${a} < y \leq ${b}`,
        R`x > ${a} \text{ and } x \le ${b}`,
        R`${a} < x \leqslant ${b}`,
        R`{${a} < x \le ${b}}`,
      ],
    },
  ]);
};

const interval: Draw = (random) => {
  const [a, b] = [random.int(-9, 2), random.int(3, 12)];
  const [open, close] = [random.pick(["(", "["]), random.pick([")", "]"])];
  const expected = `${open}${a}, ${b}${close}`;
  return {
    expected,
    responses: [
      `${open}${a},${b}${close}`,
      R`\left${open}${a}, ${b}\right${close}`,
      `${open}${a}.0, ${b}.0${close}`,
      R`x \in ${expected}`,
      `${open}${b}, ${a}${close}`,
      `(${a},${b})`,
      `[${a},${b}]`,
      `[${a},${b})`,
      `{${a},${b}}`,
      R`\{${a},${b}\}`,
      `${a}, ${b}`,
      `${a} ${open === "(" ? "<" : R`\le`} x ${close === ")" ? "<" : R`\le`} ${b}`,
      `${open}${a}, ${b + 1}${close}`,
      `${open}${a};${b}${close}`,
      R`x=${expected}`,
      R`\text{${expected}}`,
    ],
  };
};

const union: Draw = (random) => {
  const [a, b] = [random.int(-9, -1), random.int(1, 9)];
  return random.pick<Family>([
    {
      expected: R`(-\infty, ${a}) \cup (${b}, \infty)`,
      responses: [
        R`(-\infty,${a})\cup(${b},\infty)`,
        R`(${b},\infty) \cup (-\infty,${a})`,
        R`(-\infty, ${a}) ∪ (${b}, ∞)`,
        R`(-\infty, ${a}) \cup (${b}, +\infty)`,
        R`x < ${a} \text{ or } x > ${b}`,
        R`(-\infty, ${a}] \cup [${b}, \infty)`,
        R`(-\infty, ${a}), (${b}, \infty)`,
        R`(-\infty, ${a}) \cap (${b}, \infty)`,
        R`x \in (-\infty, ${a}) \cup (${b}, \infty)`,
        `(-inf,${a})U(${b},inf)`,
        R`(-\infty, ${a}) \bigcup (${b}, \infty)`,
      ],
    },
    {
      expected: R`(-\infty, ${b}) \cup (${b}, \infty)`,
      responses: [
        R`\mathbb{R} \setminus \{${b}\}`,
        R`x \neq ${b}`,
        R`(${b},\infty)\cup(-\infty,${b})`,
        R`\mathbb{R}`,
        R`\mathbb{R} - \{${b}\}`,
        R`\mathbb{R} \backslash \{${b}\}`,
        R`(-\infty, ${b}] \cup (${b}, \infty)`,
      ],
    },
    {
      expected: R`\mathbb{R} \setminus \{${a}, ${b}\}`,
      responses: [
        R`\mathbb{R}\setminus\{${a},${b}\}`,
        R`\mathbb{R} \setminus \{${b}, ${a}\}`,
        R`\mathbb R \setminus \{${a}, ${b}\}`,
        R`\mathbb{R} \backslash \{${a}, ${b}\}`,
        R`(-\infty,${a})\cup(${a},${b})\cup(${b},\infty)`,
        R`\mathbb{R} \setminus \{${a}\}`,
        R`\mathbb{R} - \{${a}, ${b}\}`,
        R`x \in \mathbb{R} \setminus \{${a}, ${b}\}`,
        R`ℝ \setminus \{${a}, ${b}\}`,
      ],
    },
    {
      expected: R`\mathbb{R}`,
      responses: [
        R`\mathbb R`,
        "ℝ",
        "R",
        R`(-\infty, \infty)`,
        R`(-\infty,+\infty)`,
        R`\text{all real numbers}`,
        R`x \in \mathbb{R}`,
        R`\mathbb{Q}`,
        R`\mathbb{R}^+`,
        R`\mathbf{R}`,
        R`\Bbb{R}`,
        R`\mathbb{C}`,
        R`\emptyset`,
        R`\varnothing`,
        R`\R`,
      ],
    },
    {
      expected: R`[${a}, ${b}] \cup \{${b + 5}\}`,
      responses: [
        R`[${a},${b}]\cup\{${b + 5}\}`,
        R`\{${b + 5}\} \cup [${a}, ${b}]`,
        R`[${a}, ${b}]`,
        R`[${a}, ${b}] \cup ${b + 5}`,
        R`[${a}, ${b}) \cup \{${b + 5}\}`,
      ],
    },
  ]);
};

const list: Draw = (random) => {
  const items = Array.from({ length: random.int(2, 4) }, () => random.int(-12, 20));
  const distinct = [...new Set(items)];
  const expected = random.chance(0.5) ? distinct.join(", ") : R`\{${distinct.join(", ")}\}`;
  const reversed = [...distinct].reverse();
  return {
    expected,
    responses: [
      distinct.join(","),
      reversed.join(", "),
      R`\{${reversed.join(", ")}\}`,
      R`\left\{${distinct.join(", ")}\right\}`,
      `{${distinct.join(",")}}`,
      R`${distinct.join(R` \text{ and } `)}`,
      distinct.join(" and "),
      distinct.join(" or "),
      distinct.map((n) => `x=${n}`).join(", "),
      R`x = ${distinct.join(R` \text{ or } x = `)}`,
      R`x = ${distinct.join(", ")}`,
      R`x \in \{${distinct.join(", ")}\}`,
      [...distinct, distinct[0]].join(", "),
      R`\{${[...distinct, distinct[0]].join(", ")}\}`,
      distinct.slice(1).join(", "),
      [...distinct, 77].join(", "),
      `(${distinct.join(", ")})`,
      `[${distinct.join(", ")}]`,
      distinct.join("; "),
      distinct.map((n) => `$${n}$`).join(", "),
      distinct.map((n) => `${n}.0`).join(", "),
      distinct.map((n, i) => `x_${i + 1} = ${n}`).join(", "),
      distinct.map((n) => n + 1).join(", "),
      distinct.join(R`,\ `),
      distinct.join(R`, \quad `),
      distinct.map((n) => R`\boxed{${n}}`).join(", "),
    ],
  };
};

const plusMinus: Draw = (random) => {
  const [a, n] = [random.int(1, 9), random.pick([2, 3, 5, 7])];
  return random.pick<Family>([
    {
      expected: R`${a} \pm \sqrt{${n}}`,
      responses: [
        R`${a}\pm\sqrt{${n}}`,
        R`${a}+\sqrt{${n}}, ${a}-\sqrt{${n}}`,
        R`${a}-\sqrt{${n}}, ${a}+\sqrt{${n}}`,
        R`\{${a}-\sqrt{${n}}, ${a}+\sqrt{${n}}\}`,
        `${a} ± √${n}`,
        R`x = ${a} \pm \sqrt{${n}}`,
        R`${a} \mp \sqrt{${n}}`,
        R`${a}+\sqrt{${n}}`,
        R`${a} \pm \sqrt{${n + 1}}`,
        R`x=${a}+\sqrt{${n}} \text{ or } x=${a}-\sqrt{${n}}`,
      ],
    },
    {
      expected: R`\pm ${a}`,
      responses: [`±${a}`, `${a}, -${a}`, `-${a}, ${a}`, R`\{-${a}, ${a}\}`, R`x = \pm ${a}`, `${a}`, `+/- ${a}`, R`${a} \text{ and } -${a}`, R`\mp ${a}`],
    },
    {
      expected: R`\frac{-${a} \pm \sqrt{${n}}}{2}`,
      responses: [
        R`\dfrac{-${a} \pm \sqrt{${n}}}{2}`,
        R`-\frac{${a}}{2} \pm \frac{\sqrt{${n}}}{2}`,
        R`\frac{-${a} + \sqrt{${n}}}{2}, \frac{-${a} - \sqrt{${n}}}{2}`,
        R`\frac{-${a} - \sqrt{${n}}}{2}, \frac{-${a} + \sqrt{${n}}}{2}`,
        R`x = \frac{-${a} \pm \sqrt{${n}}}{2}`,
        R`\frac{${a} \pm \sqrt{${n}}}{2}`,
      ],
    },
  ]);
};

const point: Draw = (random) => {
  const [a, b, c] = [random.int(-9, 9), random.int(-9, 9), random.int(1, 9)];
  const half = R`\frac{${2 * c + 1}}{2}`;
  return random.pick<Family>([
    {
      expected: `(${a}, ${b})`,
      responses: [
        `(${a},${b})`,
        R`\left(${a}, ${b}\right)`,
        `(${b}, ${a})`,
        `${a}, ${b}`,
        `[${a}, ${b}]`,
        R`\{${a}, ${b}\}`,
        `x = ${a}, y = ${b}`,
        R`(x, y) = (${a}, ${b})`,
        R`\langle ${a}, ${b} \rangle`,
        R`\begin{pmatrix} ${a} \\ ${b} \end{pmatrix}`,
        `(${a}.0, ${b})`,
        `(${a}, ${b}, 0)`,
        `(${a}; ${b})`,
        R`A(${a}, ${b})`,
        R`A = (${a}, ${b})`,
        R`(${a}, ${b}), (${b}, ${a})`,
        R`\text{(${a}, ${b})}`,
      ],
    },
    {
      expected: R`\left(${a}, ${half}, ${b}\right)`,
      responses: [
        R`(${a}, ${c}.5, ${b})`,
        R`\left( ${a},\dfrac{${2 * c + 1}}{2},${b} \right)`,
        R`(${a},${2 * c + 1}/2,${b})`,
        R`(${a}, ${b}, ${half})`,
        R`${a}, ${half}, ${b}`,
        R`\begin{pmatrix}${a}\\${half}\\${b}\end{pmatrix}`,
        R`(x,y,z)=(${a},${half},${b})`,
      ],
    },
    {
      expected: R`(${a}, ${b}), (${b}, ${a + 30})`,
      responses: [
        R`(${b}, ${a + 30}), (${a}, ${b})`,
        R`(${a}, ${b}) \text{ and } (${b}, ${a + 30})`,
        R`\{(${a}, ${b}), (${b}, ${a + 30})\}`,
        R`(${a}, ${b})`,
        R`(${a},${b});(${b},${a + 30})`,
        R`(${b}, ${a}), (${a + 30}, ${b})`,
      ],
    },
  ]);
};

const matrix: Draw = (random) => {
  const cells = Array.from({ length: 4 }, () => random.int(-9, 9));
  const [a, b, c, d] = cells;
  const written = (name: string, cut = " \\\\ "): string => R`\begin{${name}} ${a} & ${b}${cut}${c} & ${d} \end{${name}}`;
  return {
    expected: written("pmatrix"),
    responses: [
      written("bmatrix"),
      written("pmatrix", "\\\\"),
      R`\left(\begin{array}{cc}${a}&${b}\\${c}&${d}\end{array}\right)`,
      written("vmatrix"),
      written("matrix"),
      `[[${a}, ${b}], [${c}, ${d}]]`,
      R`\begin{pmatrix} ${a}.0 & ${b} \\ ${c} & ${d} \end{pmatrix}`,
      R`\begin{pmatrix} ${a} & ${c} \\ ${b} & ${d} \end{pmatrix}`,
      R`\begin{pmatrix} ${a} & ${b} \\ ${c} & ${(d ?? 0) + 1} \end{pmatrix}`,
      R`A = ${written("pmatrix")}`,
      R`\begin{pmatrix} ${a} & ${b} \\ ${c} & ${d} \\ \end{pmatrix}`,
      R`\begin{bmatrix} \frac{${2 * (a ?? 0)}}{2} & ${b} \\ ${c} & ${d} \end{bmatrix}`,
      R`2\begin{pmatrix} ${(a ?? 0) / 2} & ${(b ?? 0) / 2} \\ ${(c ?? 0) / 2} & ${(d ?? 0) / 2} \end{pmatrix}`,
      `${a}, ${b}, ${c}, ${d}`,
      R`\begin{Bmatrix} ${a} & ${b} \\ ${c} & ${d} \end{Bmatrix}`,
    ],
  };
};

export const COLLECTIONS: Readonly<Record<string, Draw>> = { inequality, interval, union, list, plusMinus, point, matrix };
