import { EdgewiseError, type Result } from "./result.ts";

/** The value; where there is none now there may be in a while, as while a deployment is replaced that has another master key. Throws, passing, what it failed with. */
export function orLater<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  const { code, message, hint } = result.error;
  throw new EdgewiseError(code, message, { ...(hint === undefined ? {} : { hint }), passing: true });
}
