/** A problem in HumanEval's form. */
export interface Problem {
  readonly task_id: string;
  /** The beginning of a module: imports, helpers, the function's head and its docstring. */
  readonly prompt: string;
  /** Defines `check(candidate)`. */
  readonly test: string;
  readonly entry_point: string;
}

/** What follows a function in the text of a model that only completes: the reference cuts there. */
const NEXT = /\n(?:class|def|#|if|print)/;

const FENCE = /^[ \t]*```[^\n]*\n([\s\S]*?)(?:^[ \t]*```|(?![\s\S]))/gm;

/**
 * The module that an answer stands for:
 *
 * - With fenced blocks: the last one that defines the entry point, behind the prompt (whose imports and helpers it may use; its definition takes
 *   the place of the prompt's). Where none defines it, the last block is the function's body, as below.
 * - Without: the same with the answer as a whole. A body is put behind the prompt, up to the next thing at the left margin (`class`, `def`, `#`, `if`,
 *   `print`), and gets back the indentation that an endpoint took from its first line.
 */
export function programOf(answer: string, { prompt, entry_point }: Problem): string {
  const blocks = Array.from(answer.matchAll(FENCE), ([, code = ""]) => code);
  const whole = blocks.findLast((code) => defines(code, entry_point)) ?? (blocks.length === 0 && defines(answer, entry_point) ? answer : null);
  if (whole !== null) return `${prompt}\n${whole}`;
  return prompt + bodyOf(blocks.at(-1) ?? answer);
}

const defines = (code: string, name: string): boolean => new RegExp(`^(?:async\\s+)?def\\s+${name.replaceAll(/\W/g, "\\$&")}\\s*\\(`, "m").test(code);

function bodyOf(text: string): string {
  const body = text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
  const indented = /^[ \t]/.test(body) ? body : `    ${body}`;
  return indented.split(NEXT, 1)[0] ?? "";
}

/** The program that fails unless the module is right, as the reference puts it together. */
export const checkedProgram = (answer: string, problem: Problem): string => `${programOf(answer, problem)}\n${problem.test}\ncheck(${problem.entry_point})`;
