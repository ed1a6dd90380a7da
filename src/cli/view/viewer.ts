/** The pages that are open, one above the other: keys go to the upmost, which is drawn. Knows no terminal. */
import { EMPTY, fitted, type Line, lineOf, type Size } from "../terminal/canvas.ts";
import type { Key } from "../terminal/keys.ts";
import type { Page } from "./page.ts";

/** Smaller screens are drawn as if they were this large, and cut. */
const LEAST: Size = { columns: 40, rows: 8 };

/** Characters that are copied at most: terminals refuse more than about 100,000 bytes in base64. */
const COPIED = 50_000;

export class Viewer {
  private readonly pages: Page[];
  private readonly copy: (text: string) => void;
  /** Stands in the last line until the next key. */
  private notice: string | null = null;

  constructor(first: Page, copy: (text: string) => void) {
    this.pages = [first];
    this.copy = copy;
  }

  /** `size.rows` lines of `size.columns` columns each; the last says what the keys do. */
  draw(size: Size): readonly Line[] {
    const page = this.pages.at(-1);
    const columns = Math.max(LEAST.columns, size.columns);
    const rows = Math.max(LEAST.rows, size.rows);
    const body = page?.draw({ columns, rows: rows - 1 }) ?? [];
    const lines = Array.from({ length: rows }, (_, i) => (i < rows - 1 ? (body[i] ?? EMPTY) : lineOf(this.notice ?? page?.help ?? "", "faint")));
    // Of a screen that is too low, the help goes first.
    return lines.slice(0, size.rows).map((line) => fitted(line, size.columns));
  }

  /** True when the viewer has ended. */
  async key(key: Key): Promise<boolean> {
    const page = this.pages.at(-1);
    if (page === undefined || key === "interrupt") return this.end();
    this.notice = null;
    if (key === "c" && page.typing !== true && page.copy !== undefined) {
      const text = page.copy();
      this.copy(text.slice(0, COPIED));
      this.notice = `sent to the terminal's clipboard: ${text.length > COPIED ? `the first ${COPIED} of ` : ""}${text.length} characters`;
      return false;
    }
    const action = await page.key(key);
    if (action === "quit") return this.end();
    if (action === "back") {
      if (this.pages.length === 1) return false;
      this.pages.pop();
      await page.close();
    } else if (action !== "stay") this.pages.push(action.open);
    return false;
  }

  /** Closes every page. */
  async end(): Promise<true> {
    for (let page = this.pages.pop(); page !== undefined; page = this.pages.pop()) await page.close();
    return true;
  }
}
