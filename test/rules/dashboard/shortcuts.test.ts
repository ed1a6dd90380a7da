import { describe, expect, it } from "vitest";
import { Shortcuts } from "../../../src/dashboard/keyboard/shortcuts.ts";

/** Keys pressed one after another, `ms` apart; what they did. */
function press(
  shortcuts: Shortcuts,
  keys: readonly string[],
  { ms = 100, target = null, ctrlKey = false }: { ms?: number; target?: object | null; ctrlKey?: boolean } = {},
): boolean[] {
  return keys.map((key, n) => {
    let prevented = false;
    const preventDefault = (): void => {
      prevented = true;
    };
    shortcuts.press({
      key,
      ctrlKey,
      metaKey: false,
      altKey: false,
      timeStamp: n * ms,
      defaultPrevented: false,
      target,
      preventDefault,
    });
    return prevented;
  });
}
function board() {
  const done: string[] = [];
  const shortcuts = new Shortcuts();
  const key = (keys: readonly string[], does: string, used = true) => ({
    keys,
    does,
    run: () => {
      done.push(does);
      return used;
    },
  });
  return { done, shortcuts, key };
}

describe("keys", () => {
  it("do what they are for, alone and one after another, and are the browser's otherwise", () => {
    const { done, shortcuts, key } = board();
    shortcuts.add([key(["j", "ArrowDown"], "next"), key(["g r"], "runs"), key(["g g"], "first")]);
    expect(press(shortcuts, ["j", "ArrowDown", "q"])).toEqual([true, true, false]);
    expect(press(shortcuts, ["g", "r", "g", "g"])).toEqual([false, true, false, true]);
    expect(press(shortcuts, ["g", "r"], { ms: 2_000 })).toEqual([false, false]);
    expect(done).toEqual(["next", "next", "runs", "first"]);
  });

  it("leave arrows to a group of choices, of which only they reach the others", () => {
    const { done, shortcuts, key } = board();
    shortcuts.add([key(["x"], "choose"), key(["j", "ArrowDown"], "next"), key(["ArrowLeft"], "previous")]);
    const target = { tagName: "INPUT", type: "radio" };
    expect(press(shortcuts, ["ArrowDown", "ArrowLeft", "x", "j"], { target })).toEqual([false, false, true, true]);
    expect(done).toEqual(["choose", "next"]);
  });

  it("are off while somebody types, and with a modifier; a check box takes no text", () => {
    const { done, shortcuts, key } = board();
    shortcuts.add([key(["x"], "choose")]);
    for (const target of [{ tagName: "INPUT", type: "search" }, { tagName: "TEXTAREA" }, { tagName: "SELECT" }, { tagName: "DIV", isContentEditable: true }])
      expect(press(shortcuts, ["x"], { target })).toEqual([false]);
    expect(press(shortcuts, ["x"], { ctrlKey: true })).toEqual([false]);
    expect(press(shortcuts, ["x"], { target: { tagName: "INPUT", type: "checkbox" } })).toEqual([true]);
    expect(done).toEqual(["choose"]);
  });

  it("mean what the page says before what surrounds it says, and go with their page", () => {
    const { done, shortcuts, key } = board();
    shortcuts.add([key(["Escape"], "outer")]);
    const leave = shortcuts.add([key(["Escape"], "inner", false), key(["Escape"], "page")]);
    press(shortcuts, ["Escape"]);
    leave();
    press(shortcuts, ["Escape"]);
    expect(done).toEqual(["page", "outer"]);
  });
});
