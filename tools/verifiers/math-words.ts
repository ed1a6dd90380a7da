/** Words, choices, and notations of one kind of answer each. */
import type { Draw, Family } from "./math-numbers.ts";

const R = String.raw;

const WORDS = [
  "Evelyn",
  "east",
  "odd",
  "parabola",
  "Yes",
  "no solution",
  "even",
  "Monday",
  "infinitely many",
  "none",
  "obtuse",
  "True",
  "undefined",
  "neither",
];
const words: Draw = (random) => {
  const [word, other] = [random.pick(WORDS), random.pick(WORDS)];
  const expected = R`\text{${word}}`;
  return {
    expected,
    responses: [
      word,
      word.toLowerCase(),
      word.toUpperCase(),
      R`\textbf{${word}}`,
      R`\mathrm{${word}}`,
      `${word}.`,
      R`\text{ ${word} }`,
      other,
      R`\text{${other}}`,
      R`\text{The answer is ${word}}`,
      `${word}s`,
      R`\text{not ${word}}`,
      `"${word}"`,
      R`\text{${word}.}`,
      R`\textit{${word}}`,
      word.replace(" ", R`\ `),
      R`\mbox{${word}}`,
      R`\textsf{${word}}`,
      R`\text{${word}} \text{ always}`,
    ],
  };
};

const letter: Draw = (random) => {
  const [a, b] = [random.pick([..."ABCDEF"]), random.pick([..."ABCDE"])];
  return {
    expected: random.pick([R`\text{(${a})}`, R`\text{${a}}`, a, R`\textbf{(${a})}`]),
    responses: [
      a,
      `(${a})`,
      R`\text{${a}}`,
      R`\textbf{(${a})}`,
      R`\text{(${a})}`,
      a.toLowerCase(),
      `${a}.`,
      `${a})`,
      R`\mathbf{${a}}`,
      R`\textbf{(${a})}\ 12`,
      b,
      R`\text{(${b})}`,
      `${a}, ${b}`,
      R`\text{Option ${a}}`,
      R`\text{${a} and ${b}}`,
      R`\mathrm{(${a})}`,
      R`\textbf{${a}}`,
    ],
  };
};

const other: Draw = (random) => {
  const [a, b, c] = [random.int(2, 9), random.int(2, 9), random.int(2, 5)];
  return random.pick<Family>([
    {
      expected: `${a}:${b}`,
      responses: [
        `${a} : ${b}`,
        R`${a} \colon ${b}`,
        `${a}/${b}`,
        R`\frac{${a}}{${b}}`,
        `${2 * a}:${2 * b}`,
        `${b}:${a}`,
        `${a} to ${b}`,
        R`${a}\text{ to }${b}`,
        `${a}`,
      ],
    },
    {
      expected: R`${100 + a}_${b}`,
      responses: [R`${100 + a}_{${b}}`, `${100 + a}`, R`${100 + a}_${b + 1}`, R`(${100 + a})_{${b}}`, R`${100 + a}_{\text{${b}}}`],
    },
    { expected: `${a + 5}!`, responses: [`${a + 5} !`, R`${a + 5} \cdot ${a + 4}!`, `${a + 4}!`, R`(${a + 5})!`, R`\frac{${a + 6}!}{${a + 6}}`] },
    {
      expected: R`\binom{${a + 6}}{${c}}`,
      responses: [
        R`{${a + 6} \choose ${c}}`,
        R`\dbinom{${a + 6}}{${c}}`,
        R`C(${a + 6}, ${c})`,
        R`\frac{${a + 6}!}{${c}!${a + 6 - c}!}`,
        R`\frac{${a + 6}!}{${c}! \cdot ${a + 6 - c}!}`,
        R`C_{${a + 6}}^{${c}}`,
        R`\binom{${a + 6}}{${a + 6 - c}}`,
        R`^{${a + 6}}C_{${c}}`,
      ],
    },
    {
      expected: R`${a}^{${b}}`,
      responses: [
        `${a}^${b}`,
        `${a ** b}`,
        `${a}**${b}`,
        R`${a} ^ {${b}}`,
        `${b}^${a}`,
        R`${a} \cdot ${a}^{${b - 1}}`,
        R`${a}^{${b}} = ${a ** b}`,
        `${a}^{${b + 1}}`,
      ],
    },
    {
      expected: `${a}:${10 + b} \\text{ PM}`,
      responses: [`${a}:${10 + b} PM`, `${a}:${10 + b}`, R`${a}:${10 + b}\text{ p.m.}`, `${a}:${10 + b} AM`, R`\text{${a}:${10 + b} PM}`],
    },
    { expected: R`\emptyset`, responses: [R`\varnothing`, R`\{\}`, "∅", R`\text{no solution}`, "0", R`\{\emptyset\}`, R`\text{None}`] },
    {
      expected: R`\sum_{k=1}^{n} k^{${a}}`,
      responses: [R`\sum_{k=1}^n k^${a}`, R`\sum_{i=1}^{n} i^{${a}}`, R`\sum_{k=1}^{n} k^{${a + 1}}`, R`\sum\limits_{k=1}^{n} k^{${a}}`],
    },
    {
      expected: R`\sqrt[${c}]{${a}}`,
      responses: [`${a}^{1/${c}}`, R`${a}^{\frac{1}{${c}}}`, R`\sqrt[${c}]{${a}}`, R`\sqrt{${a}}`, (a ** (1 / c)).toFixed(9), R`\sqrt[${c}]{${a + 1}}`],
    },
    {
      expected: R`\angle ABC = ${a}0^\circ`,
      responses: [`${a}0`, R`${a}0^\circ`, R`\angle ABC=${a}0^{\circ}`, R`${a}0 \text{ degrees}`, R`\angle CBA = ${a}0^\circ`, R`${a}1^\circ`],
    },
    {
      expected: R`${a}x^{${b}}y^{${c}}`,
      responses: [
        `${a}x^${b}y^${c}`,
        R`${a} y^{${c}} x^{${b}}`,
        R`${a} \cdot x^{${b}} \cdot y^{${c}}`,
        `${a}x^${b}*y^${c}`,
        `${a}x^${c}y^${b}`,
        R`${a}x^{${b}}y^{${c}}z`,
      ],
    },
    {
      expected: R`\frac{${a}x+${b}}{x-${c}}`,
      responses: [
        R`\dfrac{${a}x+${b}}{x-${c}}`,
        `(${a}x+${b})/(x-${c})`,
        R`${a} + \frac{${b + a * c}}{x-${c}}`,
        R`-\frac{${a}x+${b}}{${c}-x}`,
        R`\frac{${a}x-${b}}{x-${c}}`,
        R`\frac{${b}+${a}x}{x-${c}}, x \neq ${c}`,
        R`{${a}x+${b} \over x-${c}}`,
        `${a}x+${b}/x-${c}`,
      ],
    },
    {
      expected: `${a}`,
      responses: [
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"][a] ?? "",
        R`\text{${a} or more}`,
        `at least ${a}`,
        R`${a} < x`,
        R`\lfloor ${a}.${b} \rfloor`,
        R`${a}.\overline{0}`,
        R`${a - 1}.\overline{9}`,
        R`\log_{${c}} ${c ** a}`,
        R`|{-${a}}|`,
        R`\gcd(${a * 6}, ${a * 35})`,
        R`\max(${a}, 1)`,
        R`\det\begin{pmatrix}${a}&0\\0&1\end{pmatrix}`,
        R`\int_0^{${a}} 1\,dx`,
        R`\lim_{x \to ${a}} x`,
        R`${a}\text{th}`,
        R`${a}^{\text{th}}`,
        `${a}th`,
        R`\text{No. }${a}`,
        R`${a} \pmod{${b + 20}}`,
        R`${a} \bmod ${b + 20}`,
        R`\{${a}\}`,
        R`n = ${a}k`,
        R`${a}\square`,
        R`${a} \ne ${b}`,
      ],
    },
  ]);
};

export const WORDINGS: Readonly<Record<string, Draw>> = { words, letter, other };
