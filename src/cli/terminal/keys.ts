/** What a keyboard sends to a terminal, as names of keys. */

/** A named key, or the one character that was typed. */
export type Key = string;

const SEQUENCES: Readonly<Record<string, Key>> = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  OA: "up",
  OB: "down",
  OC: "right",
  OD: "left",
  "[H": "home",
  "[F": "end",
  OH: "home",
  OF: "end",
  "[1~": "home",
  "[7~": "home",
  "[4~": "end",
  "[8~": "end",
  "[5~": "pageup",
  "[6~": "pagedown",
  "[3~": "delete",
  "[Z": "shift-tab",
};

const CONTROLS: Readonly<Record<string, Key>> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\u007f": "backspace",
  "\b": "backspace",
  "\u0003": "interrupt",
  "\u0004": "interrupt",
  "\u000c": "redraw",
  "\u0015": "clear",
  "\u001a": "suspend",
};

const ESCAPE = "\u001b";
// A whole sequence after ESC, and the beginning of one.
const WHOLE = /^(?:\[[0-?]*[ -/]*[@-~]|O[A-Za-z])/;
const PART = /^(?:\[[0-?]*[ -/]*|O?)$/;

/** Takes what was read apart; a sequence may come in pieces. */
export class KeyReader {
  private rest = "";

  /** True while an ESC waits for what may follow it: the Escape key itself sends nothing more. */
  get waiting(): boolean {
    return this.rest !== "";
  }

  push(text: string): readonly Key[] {
    const keys: Key[] = [];
    let left = this.rest + text;
    this.rest = "";
    while (left !== "") {
      if (left.startsWith(ESCAPE)) {
        const after = left.slice(1);
        if (PART.test(after)) {
          this.rest = left;
          break;
        }
        const sequence = WHOLE.exec(after)?.[0];
        if (sequence !== undefined) {
          const key = SEQUENCES[sequence];
          if (key !== undefined) keys.push(key);
          left = after.slice(sequence.length);
          continue;
        }
        keys.push("escape");
        left = after;
        continue;
      }
      const character = String.fromCodePoint(left.codePointAt(0) ?? 0);
      left = left.slice(character.length);
      const key = CONTROLS[character] ?? (character >= " " ? character : null);
      if (key !== null) keys.push(key === " " ? "space" : key);
    }
    return keys;
  }

  /** Nothing followed in time. */
  flush(): readonly Key[] {
    if (!this.waiting) return [];
    this.rest = "";
    return ["escape"];
  }
}
