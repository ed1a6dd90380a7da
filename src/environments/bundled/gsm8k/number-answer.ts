import { extractBoxedAnswer, extractHashAnswer } from "../../../parsers/extract.ts";

/**
 * The lenient reading: how a text's final answer is found and compared as a number, in the manner of GSM8K.
 *
 * Found: the content of the last `\boxed{…}`; else the rest of the line after the first `####`; else the last number in the
 * text. Compared as numbers when both are one: thousands commas (`1,234`, LaTeX's `1{,}234` too), currency and percent signs,
 * spaces of LaTeX, leading and trailing zeros and a closing period do not matter, and neither do words around the only number
 * of a marked answer (`18 dollars`). Two answers that are not both numbers are compared as texts, without regard to case, outer
 * and repeated spaces, or a closing period.
 */
export function findAnswer(text: string): string | null {
  const boxed = extractBoxedAnswer(text, { strict: true }).trim();
  if (boxed !== "") return boxed;
  if (text.includes("####")) {
    const marked = (extractHashAnswer(text).split("\n", 1)[0] ?? "").trim();
    if (marked !== "") return marked;
  }
  return numbersIn(text).at(-1) ?? null;
}

/** A sign only counts where no operand stands before it: `10-5` holds 10 and 5. */
const NUMBER = /(?:(?<![\w)\]])[-+])?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)/g;

/** LaTeX, typographic and currency marks that stand inside or around a number without changing it. */
function plain(text: string): string {
  return text
    .replaceAll("−", "-")
    .replaceAll(/\{,\}/g, ",")
    .replaceAll(/\\[,;:! ]|\\(?:left|right)\b|[$€£¥₹%]|\\[$%]/g, "")
    .replaceAll(/\\(?:text|mathrm|mathbf)\{([^{}]*)\}/g, " $1 ");
}

const numbersIn = (text: string): string[] => plain(text).match(NUMBER) ?? [];

/** The number an answer states, in one spelling per value; null when it states none, or several. */
export function canonicalNumber(answer: string): string | null {
  const numbers = numbersIn(answer);
  const [number] = numbers;
  if (number === undefined || numbers.length > 1) return null;
  const digits = number.replaceAll(/[,+-]/g, "");
  const [whole = "", fraction = ""] = digits.split(".");
  const left = whole.replace(/^0+(?=\d)/, "") || "0";
  const right = fraction.replace(/0+$/, "");
  const value = right === "" ? left : `${left}.${right}`;
  return number.startsWith("-") && value !== "0" ? `-${value}` : value;
}

const asText = (answer: string): string => answer.trim().replace(/\.$/, "").replaceAll(/\s+/g, " ").toLowerCase();

/** Whether two answers say the same, by the rule above. */
export function sameAnswer(given: string, truth: string): boolean {
  const [a, b] = [canonicalNumber(given), canonicalNumber(truth)];
  if (a !== null && b !== null) return a === b;
  return a === null && b === null && asText(given) === asText(truth);
}
