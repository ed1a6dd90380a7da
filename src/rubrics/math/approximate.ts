import Complex from "complex.js";
import Fraction from "fraction.js";
import { type Budget, MathBoundError } from "./budget.ts";
import { exactValue, type Point } from "./exact.ts";
import { factorial } from "./gamma.ts";
import type { Node } from "./node.ts";

const complex = (re: number, im = 0): Complex => new Complex(re, im);
const NOWHERE = complex(Number.NaN, Number.NaN);
const isHeld = ({ re, im }: Complex): boolean => Number.isFinite(re) && Number.isFinite(im);

const ONE: Node = { kind: "number", value: new Fraction(1), decimal: false };
const hasNoValue = ({ re, im }: Complex): boolean => Number.isNaN(re) || Number.isNaN(im);

const FUNCTIONS: Readonly<Record<string, (x: Complex) => Complex>> = {
  sin: (x) => x.sin(),
  cos: (x) => x.cos(),
  tan: (x) => x.tan(),
  cot: (x) => x.cot(),
  sec: (x) => x.sec(),
  csc: (x) => x.csc(),
  arcsin: (x) => x.asin(),
  arccos: (x) => x.acos(),
  arctan: (x) => x.atan(),
  sinh: (x) => x.sinh(),
  cosh: (x) => x.cosh(),
  tanh: (x) => x.tanh(),
  coth: (x) => x.coth(),
  arcsinh: (x) => x.asinh(),
  arccosh: (x) => x.acosh(),
  arctanh: (x) => x.atanh(),
  ln: (x) => x.log(),
  log: (x) => x.log().div(Math.LN10),
  lg: (x) => x.log().div(Math.LN10),
  exp: (x) => x.exp(),
  abs: (x) => complex(x.abs()),
  arg: (x) => complex(x.arg()),
  Re: (x) => complex(x.re),
  Im: (x) => complex(x.im),
  floor: (x) => (x.im === 0 ? complex(Math.floor(x.re)) : NOWHERE),
  ceil: (x) => (x.im === 0 ? complex(Math.ceil(x.re)) : NOWHERE),
  factorial: (x) => (x.im === 0 ? kept(factorial(x.re)) : NOWHERE),
};
/** Their values carry an absolute error, since the argument is reduced by a multiple of pi. */
const PERIODIC = new Set(["sin", "cos", "tan", "cot", "sec", "csc"]);

/**
 * Evaluates expressions in double precision over the complex numbers. `scale` is the largest number that was added or reduced on the
 * way: what is small beside it may be rounding.
 */
export class Approximation {
  readonly #point: Point;
  readonly #budget: Budget;
  #scale = 0;

  constructor(point: Point, budget: Budget) {
    this.#point = point;
    this.#budget = budget;
  }

  get scale(): number {
    return this.#scale;
  }

  /** NaN where the expression has no value. Throws a `MathBoundError` for values beyond a double. */
  value(node: Node): Complex {
    return this.#budget.nested(() => {
      switch (node.kind) {
        case "number":
          return complex(node.value.valueOf());
        case "constant":
          if (node.name === "i") return complex(0, 1);
          return complex(node.name === "pi" ? Math.PI : node.name === "e" ? Math.E : Number.POSITIVE_INFINITY);
        case "symbol": {
          const value = this.#point.get(node.name);
          return value === undefined ? NOWHERE : complex(value.valueOf());
        }
        case "sum":
          return node.terms.map((term) => this.#noted(this.value(term))).reduce((sum, term) => sum.add(term));
        case "negative": {
          const { re, im } = this.value(node.of);
          return complex(0 - re, 0 - im);
        }
        case "product":
          return node.factors.map((factor) => this.value(factor)).reduce((product, factor) => product.mul(factor));
        case "quotient": {
          const over = this.value(node.over);
          const under = this.value(node.under);
          return hasNoValue(over) || hasNoValue(under) || (under.re === 0 && under.im === 0) ? NOWHERE : over.div(under);
        }
        case "power":
          return this.#power(node.base, node.exponent);
        case "root":
          return node.degree === null ? this.value(node.of).sqrt() : this.#power(node.of, { kind: "quotient", over: ONE, under: node.degree });
        case "call":
          return this.#call(
            node.name,
            node.args.map((arg) => this.value(arg)),
          );
        default:
          return NOWHERE;
      }
    });
  }

  #noted(value: Complex): Complex {
    const size = value.abs();
    if (size > this.#scale && Number.isFinite(size)) this.#scale = size;
    return value;
  }

  /** Of a negative number, an odd root is the real one. */
  #power(base: Node, exponent: Node): Complex {
    const of = this.value(base);
    const exact = exactValue(exponent, this.#point, this.#budget);
    if (exact === null || exact.d % 2n === 0n || of.im !== 0 || of.re >= 0) return held(of, this.value(exponent));
    const size = held(complex(-of.re), complex(exact.valueOf()));
    return exact.n % 2n === 0n ? size : complex(-size.re);
  }

  #call(name: string, args: readonly Complex[]): Complex {
    const [first, second] = args;
    if (first === undefined || args.some(hasNoValue)) return NOWHERE;
    if (PERIODIC.has(name)) this.#noted(complex(Math.max(1, first.abs())));
    const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (known !== undefined && second === undefined) return known(first);
    if (second === undefined) return NOWHERE;
    if (name === "log") return first.log().div(second.log());
    if (name === "binom" && first.im === 0 && second.im === 0) return kept(factorial(first.re) / factorial(second.re) / factorial(first.re - second.re));
    return NOWHERE;
  }
}

const beyond = (): MathBoundError => new MathBoundError("an answer is beyond the numbers that can be compared");

/** A value that a double holds. */
function kept(value: number): Complex {
  if (Math.abs(value) === Number.POSITIVE_INFINITY) throw beyond();
  return complex(value);
}

/** A power that a double holds: one that runs over, or runs dry, cannot be told from others that do. */
function held(base: Complex, exponent: Complex): Complex {
  if (hasNoValue(base) || hasNoValue(exponent)) return NOWHERE;
  const power = base.pow(exponent);
  const zero = base.re === 0 && base.im === 0;
  if (isHeld(base) && isHeld(exponent) && !zero && (!isHeld(power) || (power.re === 0 && power.im === 0))) throw beyond();
  return power;
}
