/** Signs of other alphabets, as LaTeX. Each ends in a space where a letter may follow. */
const SIGNS: Readonly<Record<string, string>> = {
  "−": "-",
  "–": "-",
  "×": "\\times ",
  "·": "\\cdot ",
  "⋅": "\\cdot ",
  "÷": "\\div ",
  "∞": "\\infty ",
  "≤": "\\leq ",
  "≥": "\\geq ",
  "⩽": "\\leq ",
  "⩾": "\\geq ",
  "≠": "\\neq ",
  "∪": "\\cup ",
  "∩": "\\cap ",
  "∖": "\\setminus ",
  "∈": "\\in ",
  "√": "\\sqrt ",
  "°": "^\\circ ",
  "±": "\\pm ",
  "∓": "\\mp ",
  "½": "\\frac12 ",
  "⅓": "\\frac13 ",
  "⅔": "\\frac23 ",
  "¼": "\\frac14 ",
  "¾": "\\frac34 ",
  "≈": "\\approx ",
  "∅": "\\emptyset ",
  "′": "'",
  "：": ":",
  "，": ",",
  "（": "(",
  "）": ")",
  "≡": "\\equiv ",
  "→": "\\to ",
  "…": "\\ldots ",
  "∠": "\\angle ",
  "△": "\\triangle ",
  "⟨": "\\langle ",
  "⟩": "\\rangle ",
  "⌊": "\\lfloor ",
  "⌋": "\\rfloor ",
  "⌈": "\\lceil ",
  "⌉": "\\rceil ",
  ℝ: "\\mathbb{R}",
  ℂ: "\\mathbb{C}",
  ℚ: "\\mathbb{Q}",
  ℤ: "\\mathbb{Z}",
  ℕ: "\\mathbb{N}",
};
const SMALL = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma tau upsilon phi chi psi omega".split(" ");
/** A command sets its own name, which no \`\\omicron\` of LaTeX does: what is read here is compared with itself. */
const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const GREEK_AT = [
  [0x3b1, SMALL],
  [0x391, SMALL.map((name) => (name === "varsigma" ? "" : capital(name)))],
] as const;
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const LOWERED = "₀₁₂₃₄₅₆₇₈₉";

function greek(char: string): string | null {
  const code = char.charCodeAt(0);
  for (const [first, names] of GREEK_AT) {
    const name = names[code - first];
    if (name !== undefined && name !== "") return `\\${name} `;
  }
  // The other forms of epsilon, theta and phi, and the signs for increment, ohm and micro.
  return { ϵ: "\\epsilon ", ϑ: "\\theta ", ϕ: "\\phi ", "∆": "\\Delta ", Ω: "\\Omega ", µ: "\\mu " }[char] ?? null;
}

/** A run of small digits is one exponent or index: `10⁻¹²`. */
const small = (run: string, digits: string, mark: string): string =>
  `${mark}{${[...run].map((char) => (char === "⁻" ? "-" : String(digits.indexOf(char)))).join("")}} `;

/** The text with its Unicode signs and letters as LaTeX; what is not known stays. */
export const asLatex = (text: string): string =>
  text
    .replace(/⁻?[⁰¹²³⁴-⁹]+/gu, (run) => small(run, RAISED, "^"))
    .replace(/[₀-₉]+/gu, (run) => small(run, LOWERED, "_"))
    .replace(/[^\x20-\x7e]/gu, (char) => SIGNS[char] ?? greek(char) ?? char);
