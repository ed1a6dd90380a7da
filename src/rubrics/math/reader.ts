import type { Budget } from "./budget.ts";
import { bracketed, EMPTY, evenText, HUNDREDTH, isWhole, nameOf, number, productOf, sumOf, Unreadable, withoutApproximation } from "./build.ts";
import { CLOSE, ENDS, FUNCTIONS, GREEK, MATRIX, NAMING, NO_FACTOR, OPEN, RELATIONS, SETS } from "./commands.ts";
import { determinant } from "./matrix.ts";
import type { Node, Relation } from "./node.ts";
import type { Token } from "./tokens.ts";

/** `\pm` in one sum: more is no answer but noise. */
const MAX_SIGNS = 8;

/** A recursive descent over the tokens of one answer. */
export class Reader {
  readonly #tokens: Token[];
  readonly #budget: Budget;
  #at = 0;
  /** Open `|`: inside one, the next closes it. */
  #bars = 0;

  constructor(tokens: Token[], budget: Budget) {
    this.#tokens = tokens;
    this.#budget = budget;
  }

  answer(): Node {
    // `= 12`, `\approx 12`: what was asked for stands before it.
    while (this.#relation("=~") !== null);
    const items = this.#items();
    if (this.#at < this.#tokens.length) throw new Unreadable();
    return items;
  }

  get #next(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #sees(name: string): boolean {
    const next = this.#next;
    return next !== undefined && next.kind !== "text" && next.kind !== "letter" && next.name === name;
  }

  #take(): Token {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new Unreadable();
    this.#budget.spend();
    return token;
  }

  #accept(name: string): boolean {
    if (!this.#sees(name)) return false;
    this.#take();
    return true;
  }

  #expect(name: string): void {
    if (!this.#accept(name)) throw new Unreadable();
  }

  /** `a, b, c`; one item is itself. */
  #items(): Node {
    const items = this.#separated();
    const [only] = items;
    return items.length === 1 && only !== undefined ? only : { kind: "list", items };
  }

  #separated(): Node[] {
    const items = [this.#item()];
    while (this.#sees(",") || this.#sees(";")) {
      while (this.#accept(",") || this.#accept(";"));
      items.push(this.#item());
    }
    return items;
  }

  /** A relation, a ratio, or what stands on one side of them. `x \in S` is S. */
  #item(): Node {
    return this.#budget.nested(() => {
      const first = this.#ratio();
      if (this.#accept("in")) return this.#ratio();
      const sides = [first];
      const operators: (Relation | "~")[] = [];
      for (let operator = this.#relation(); operator !== null; operator = this.#relation()) {
        operators.push(operator);
        sides.push(this.#ratio());
      }
      return operators.length === 0 ? first : withoutApproximation(sides, operators);
    });
  }

  /** `among`: those that may stand here. */
  #relation(among?: string): Relation | "~" | null {
    const next = this.#next;
    if (next === undefined || next.kind === "text" || next.kind === "letter" || next.kind === "number") return null;
    if (next.name === "!" && this.#tokens[this.#at + 1]?.name === "=") {
      this.#at += 2;
      return "!=";
    }
    const operator = Object.hasOwn(RELATIONS, next.name) ? RELATIONS[next.name] : undefined;
    if (operator === undefined || (among !== undefined && !among.includes(operator))) return null;
    this.#take();
    if ((operator === "<" || operator === ">") && this.#accept("=")) return `${operator}=`;
    return operator;
  }

  #ratio(): Node {
    const parts = [this.#union()];
    while (this.#accept(":")) parts.push(this.#union());
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: "ratio", parts };
  }

  #union(): Node {
    let left = this.#sum();
    for (let next = this.#next; next !== undefined && next.kind === "command" && SETS.has(next.name); next = this.#next) {
      const operator = this.#take().name as "cup" | "cap" | "setminus";
      const right = this.#sum();
      left = left.kind === "sets" && left.operator === operator ? { ...left, parts: [...left.parts, right] } : { kind: "sets", operator, parts: [left, right] };
    }
    return left;
  }

  #sum(): Node {
    return this.#budget.nested(() => {
      let terms: Node[] = [];
      for (let signs = 0; ; ) {
        const upper = this.#accept("pm") ? 1 : this.#accept("mp") ? -1 : null;
        if (upper !== null) {
          if (++signs > MAX_SIGNS) throw new Unreadable();
          terms = [{ kind: "plus-minus", left: terms.length === 0 ? null : sumOf(terms), right: this.#product(), upper }];
        } else if (this.#accept("+")) terms.push(this.#product());
        else if (this.#accept("-")) terms.push({ kind: "negative", of: this.#product() });
        else if (terms.length === 0) terms.push(this.#product());
        else return this.#parted(sumOf(terms));
      }
    });
  }

  /** `{a + b \over c}`, `{n \choose k}`: the sums before and behind it. */
  #parted(above: Node): Node {
    if (this.#accept("over")) return { kind: "quotient", over: above, under: this.#sum() };
    if (this.#accept("choose")) return { kind: "call", name: "binom", args: [above, this.#sum()] };
    return above;
  }

  #product(): Node {
    // A sign inside a product (`3 \cdot -2`) belongs to the factor behind it.
    if (this.#accept("-")) return this.#budget.nested(() => ({ kind: "negative", of: this.#product() }));
    if (this.#accept("+")) return this.#budget.nested(() => this.#product());
    let factors: Node[] = [this.#factor()];
    for (;;) {
      if (this.#accept("cdot") || this.#accept("times") || this.#accept("*")) {
        // `N \cdot m` behind a number is a unit of two.
        if (this.#next?.kind === "text" && factors[0]?.kind !== "text") this.#skipUnit();
        else factors.push(this.#signed());
      } else if (this.#accept("/") || this.#accept("div")) factors = [this.#dividedBy(productOf(factors))];
      else if (this.#next?.kind === "text" && factors[0]?.kind !== "text") this.#skipUnit();
      else if (this.#startsFactor()) factors.push(this.#implied(factors));
      else return productOf(factors);
    }
  }

  #signed(): Node {
    if (this.#accept("-")) return { kind: "negative", of: this.#factor() };
    return this.#factor();
  }

  /** `a/b`, or the rest of a unit (`km/h`). */
  #dividedBy(left: Node): Node {
    if (this.#next?.kind === "text" && this.#tokens[this.#at - 2]?.kind === "text") {
      this.#skipUnit();
      return left;
    }
    return { kind: "quotient", over: left, under: this.#signed() };
  }

  /** The factor beside the last of `factors`, which it may make a mixed number of (`1\frac{4}{5}`) and take out. */
  #implied(factors: Node[]): Node {
    const left = factors.at(-1);
    const apart = this.#next?.kind === "number" && this.#tokens[this.#at - 1]?.kind === "number";
    const right = this.#factor();
    if (left === undefined) return right;
    const whole = isWhole(left);
    if (whole && right.kind === "quotient" && isWhole(right.over) && isWhole(right.under) && right.over.value.compare(right.under.value) < 0) {
      factors.pop();
      return { kind: "sum", terms: [left, right] };
    }
    if (!apart) return right;
    // `1 1/2`; any other two numbers side by side mean nothing.
    if (!whole || !isWhole(right) || !this.#accept("/")) throw new Unreadable();
    factors.pop();
    return { kind: "sum", terms: [left, { kind: "quotient", over: right, under: this.#factor() }] };
  }

  #skipUnit(): void {
    this.#take();
    if (this.#accept("^")) this.#group();
  }

  #startsFactor(): boolean {
    const next = this.#next;
    if (next === undefined) return false;
    if (next.kind === "sign") return next.name === "|" ? this.#bars === 0 : !ENDS.has(next.name) && next.name !== "%";
    if (next.kind !== "command") return true;
    return !SETS.has(next.name) && !Object.hasOwn(RELATIONS, next.name) && !NO_FACTOR.has(next.name);
  }

  /** A base with what stands above, below and behind it. */
  #factor(): Node {
    return this.#budget.nested(() => {
      let base = this.#subscript(this.#primary());
      for (;;) {
        if (this.#accept("^")) {
          if (this.#isDegree()) continue;
          base = { kind: "power", base, exponent: this.#group() };
        } else if (this.#sees("!") && this.#tokens[this.#at + 1]?.name !== "=") {
          this.#take();
          base = { kind: "call", name: "factorial", args: [base] };
        } else if (this.#accept("%")) {
          base = { kind: "product", factors: [base, HUNDREDTH] };
        } else if (this.#accept("'") || this.#accept("prime")) {
          base = { kind: "symbol", name: `${nameOf(base)}'` };
        } else return base;
      }
    });
  }

  /** `^\circ` and `^{\circ}`: an angle in degrees is its number. */
  #isDegree(): boolean {
    if (this.#accept("circ")) return true;
    if (this.#sees("{") && this.#tokens[this.#at + 1]?.name === "circ" && this.#tokens[this.#at + 2]?.name === "}") {
      this.#at += 3;
      return true;
    }
    return false;
  }

  #subscript(base: Node): Node {
    if (!this.#accept("_")) return base;
    const from = this.#at;
    this.#group();
    const name = this.#tokens
      .slice(from, this.#at)
      .map((token) => token.name)
      .filter((part) => part !== "{" && part !== "}")
      .join("");
    if (base.kind === "number" && name === "10") return base;
    if (base.kind === "number") return { kind: "based", digits: base.value.toString(), base: name };
    return { kind: "symbol", name: `${nameOf(base)}_${name}` };
  }

  /** `{…}`, or the one token that stands for it. A number stands as a whole: who writes `x^12` means it, whatever LaTeX prints. */
  #group(): Node {
    if (this.#sees("{")) return this.#braced();
    if (this.#accept("-")) return { kind: "negative", of: this.#primary() };
    return this.#primary();
  }

  /** The same for fractions, of whose number each takes one digit: `\frac12`. */
  #digitOrGroup(): Node {
    const next = this.#next;
    if (next?.kind !== "number" || next.name.length === 1 || next.name.includes(".")) return this.#group();
    this.#budget.spend();
    this.#tokens[this.#at] = { ...next, name: next.name.slice(1) };
    return number(next.name.charAt(0));
  }

  /** `\log_28` is of 8 for the base 2, `\log_10 x` of x for the base 10. */
  #base(): Node {
    const behind = this.#tokens[this.#at + 1];
    return behind === undefined || behind.name === "," ? this.#digitOrGroup() : this.#group();
  }

  #braced(): Node {
    this.#expect("{");
    const bars = this.#bars;
    this.#bars = 0;
    const inner = this.#items();
    this.#bars = bars;
    this.#expect("}");
    return inner;
  }

  #primary(): Node {
    const token = this.#take();
    switch (token.kind) {
      case "number":
        return number(token.name);
      case "text":
        return { kind: "text", text: evenText(token.name) };
      case "letter":
        if (token.name === "e" || token.name === "i") return { kind: "constant", name: token.name };
        return { kind: "symbol", name: token.name };
      case "sign":
        return this.#bracket(token.name);
      case "command":
        return this.#command(token.name);
    }
  }

  #bracket(open: string): Node {
    if (open === "{") {
      this.#at--;
      return this.#braced();
    }
    if (open === "|") {
      this.#bars++;
      const inner = this.#items();
      this.#bars--;
      this.#expect("|");
      return { kind: "call", name: "abs", args: [inner] };
    }
    if (!OPEN.has(open)) throw new Unreadable();
    if (open === "\\{" && this.#accept("\\}")) return EMPTY;
    const bars = this.#bars;
    this.#bars = 0;
    const items = this.#separated();
    this.#bars = bars;
    const close = this.#take().name;
    if (!CLOSE.has(close)) throw new Unreadable();
    return bracketed(open, items, close);
  }

  #command(name: string): Node {
    if (name === "frac") return { kind: "quotient", over: this.#digitOrGroup(), under: this.#digitOrGroup() };
    if (name === "binom") return { kind: "call", name, args: [this.#digitOrGroup(), this.#digitOrGroup()] };
    if (name === "sqrt") {
      const degree = this.#accept("[") ? this.#sum() : null;
      if (degree !== null) this.#expect("]");
      return { kind: "root", of: this.#group(), degree };
    }
    if (name === "pi") return { kind: "constant", name };
    if (name === "infty") return { kind: "constant", name: "infinity" };
    if (name === "imath") return { kind: "constant", name: "i" };
    if (name === "emptyset") return EMPTY;
    if (name === "boxed" || name === "fbox") return this.#group();
    if (name === "begin") return this.#matrix();
    if (name === "lfloor" || name === "lceil") {
      const inner = this.#items();
      this.#expect(name === "lfloor" ? "rfloor" : "rceil");
      return { kind: "call", name: name.slice(1), args: [inner] };
    }
    if (name === "langle") {
      const items = this.#separated();
      this.#expect("rangle");
      return { kind: "tuple", items };
    }
    if (FUNCTIONS.has(name)) return this.#call(name);
    if (NAMING.has(name)) {
      return { kind: "symbol", name: `${name} ${nameOf(this.#group())}` };
    }
    if (/^(var)?[a-zA-Z]{2,}$/.test(name) && GREEK.has(name.replace(/^var/, "").toLowerCase())) return { kind: "symbol", name: `\\${name}` };
    throw new Unreadable();
  }

  /** `\sin^2 2x \cos x`: an argument without brackets is the product up to the next function. */
  #call(name: string): Node {
    let base: Node | null = null;
    let exponent: Node | null = null;
    for (;;) {
      if (this.#accept("_")) base = this.#base();
      else if (this.#accept("^")) exponent = this.#group();
      else break;
    }
    const bracket = this.#sees("(") || this.#sees("{") || this.#sees("[");
    const factors = [this.#factor()];
    while (!bracket && this.#startsFactor() && this.#next?.kind !== "text" && !(this.#next?.kind === "command" && FUNCTIONS.has(this.#next.name))) {
      factors.push(this.#factor());
    }
    const argument = productOf(factors);
    const args = argument.kind === "tuple" || argument.kind === "list" ? argument.items : [argument];
    const inverse = exponent?.kind === "negative" && isWhole(exponent.of) && exponent.of.value.equals(1);
    if (name === "det" && argument.kind === "matrix") return determinant(argument.rows);
    const called: Node = { kind: "call", name: inverse ? `arc${name}` : name, args: base === null ? args : [...args, base] };
    return exponent === null || inverse ? called : { kind: "power", base: called, exponent };
  }

  /** After `\begin`. */
  #matrix(): Node {
    const name = this.#name();
    if (!MATRIX.has(name)) throw new Unreadable();
    if (name === "array" && this.#sees("{")) while (this.#take().name !== "}");
    const rows: Node[][] = [[]];
    while (!this.#accept("end")) {
      if (this.#accept("\\")) rows.push([]);
      else if (!this.#accept("&")) rows.at(-1)?.push(this.#items());
    }
    this.#name();
    const filled = rows.filter((row) => row.length > 0);
    return name === "vmatrix" ? determinant(filled) : { kind: "matrix", rows: filled };
  }

  /** `{name}` as letters. */
  #name(): string {
    this.#expect("{");
    let name = "";
    for (let token = this.#take(); token.name !== "}"; token = this.#take()) name += token.name;
    return name;
  }
}
