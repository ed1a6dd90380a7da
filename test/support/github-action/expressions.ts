/** The expressions of GitHub's workflow language that `action.yml` uses; any other is refused, so that a test says what is not played here. */
export type Contexts = Readonly<Record<string, unknown>>;

/** A text with `${{ … }}` in it, each in the place of its value. Throws for an expression that is not understood. */
export const interpolated = (text: string, contexts: Contexts): string =>
  text.replaceAll(/\$\{\{(.*?)\}\}/gs, (_, expression: string) => String(worthOf(expression.trim(), contexts)));

/** Whether a step's `if` holds; without one it does. */
export function holds(condition: string | undefined, contexts: Contexts): boolean {
  if (condition === undefined) return true;
  const value = interpolated(condition.includes("${{") ? condition : `\${{ ${condition} }}`, contexts);
  return value !== "" && value !== "false" && value !== "0";
}

function worthOf(expression: string, contexts: Contexts): unknown {
  const compared = /^(\S+)\s*(==|!=)\s*'([^']*)'$/.exec(expression);
  if (compared !== null) {
    const [, path = "", operator, text = ""] = compared;
    // As GitHub compares texts: without regard to their case.
    const equal = String(at(path, contexts)).toLowerCase() === text.toLowerCase();
    return equal === (operator === "==");
  }
  return at(expression, contexts);
}

/** `steps.gate.outputs.verdict`; what is not there is empty, as there, but a context that is not there is a mistake. */
function at(path: string, contexts: Contexts): unknown {
  if (!/^[a-z_]+(\.[\w-]+)+$/i.test(path)) throw new Error(`no such expression is played here: ${path}`);
  const [context = "", ...names] = path.split(".");
  if (!(context in contexts)) throw new Error(`there is no context ${context}: ${path}`);
  let value: unknown = contexts[context];
  for (const name of names) value = typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Contexts)[name] : "";
  return value;
}
