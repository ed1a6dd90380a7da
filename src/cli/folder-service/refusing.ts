import { EdgewiseError } from "../../errors/result.ts";

/** Folders are looked at, and stay as they are. */
export const readOnly = (): EdgewiseError =>
  new EdgewiseError("forbidden", "These are results folders: here they are looked at, and nothing of them changes.", {
    hint: "For runs that can be begun, resumed and deleted in a browser: npx edgewise serve",
  });

const absent = (name: string): EdgewiseError =>
  new EdgewiseError("not_found", `These are results folders, of which there is no such thing (${name}).`, { hint: "A service has it: npx edgewise serve" });

/** What there is of an interface of a service; everything else of it is refused to whoever calls it. */
export function only<Whole extends object>(part: Partial<Whole>): Whole {
  return new Proxy(part, {
    get: (target, name) => {
      if (typeof name === "symbol" || name === "then" || name in target) return Reflect.get(target, name, target);
      return () => Promise.reject(absent(name));
    },
  }) as Whole;
}
