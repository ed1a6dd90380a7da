import Fraction from "fraction.js";
import type { Budget } from "./budget.ts";
import type { Node } from "./node.ts";

/** Where an expression is evaluated: a value for each of its symbols. */
export type Point = ReadonlyMap<string, Fraction>;

/** Numbers of more bits are left to the approximation, which refuses what it cannot hold. */
const MAX_BITS = 20_000;
const MAX_FACTORIAL = 5_000n;

/** Exact value of a rational expression; null for anything else (roots, functions, pi, a division by zero). */
export function exactValue(node: Node, point: Point, budget: Budget): Fraction | null {
  return budget.nested(() => {
    switch (node.kind) {
      case "number":
        return node.value;
      case "symbol":
        return point.get(node.name) ?? null;
      case "sum":
        return folded(node.terms, point, budget, (sum, term) => sum.add(term));
      case "product":
        return folded(node.factors, point, budget, (product, factor) => product.mul(factor));
      case "negative":
        return exactValue(node.of, point, budget)?.neg() ?? null;
      case "quotient": {
        const over = exactValue(node.over, point, budget);
        const under = exactValue(node.under, point, budget);
        return over === null || under === null || under.n === 0n ? null : bounded(over.div(under), budget);
      }
      case "power": {
        const base = exactValue(node.base, point, budget);
        const exponent = exactValue(node.exponent, point, budget);
        return base === null || exponent === null || exponent.d !== 1n ? null : wholePower(base, exponent.s * exponent.n, budget);
      }
      case "call": {
        const args = node.args.map((arg) => exactValue(arg, point, budget));
        return args.includes(null) ? null : exactCall(node.name, args as Fraction[], budget);
      }
      default:
        return null;
    }
  });
}

function folded(parts: readonly Node[], point: Point, budget: Budget, join: (left: Fraction, right: Fraction) => Fraction): Fraction | null {
  let result: Fraction | null = null;
  for (const part of parts) {
    const value = exactValue(part, point, budget);
    if (value === null) return null;
    result = result === null ? value : bounded(join(result, value), budget);
    if (result === null) return null;
  }
  return result;
}

const bitsOf = (value: bigint): number => value.toString(16).length * 4;

/** Null when the number got too large. */
function bounded(value: Fraction, budget: Budget): Fraction | null {
  const bits = bitsOf(value.n) + bitsOf(value.d);
  // Reducing a fraction takes the square of its length.
  budget.spend(1 + Math.floor((bits / 64) ** 2 / 8));
  return bits > MAX_BITS ? null : value;
}

function wholePower(base: Fraction, exponent: bigint, budget: Budget): Fraction | null {
  if (base.n === 0n) return exponent > 0n ? base : null;
  const size = exponent < 0n ? -exponent : exponent;
  if (base.n === 1n && base.d === 1n) return base.s < 0n && size % 2n === 1n ? base : new Fraction(1);
  if (size > BigInt(MAX_BITS) || Number(size) * (bitsOf(base.n) + bitsOf(base.d)) > 4 * MAX_BITS) return null;
  const numerator = (base.s * base.n) ** size;
  const denominator = base.d ** size;
  const power =
    exponent < 0n ? new Fraction(denominator * (numerator < 0n ? -1n : 1n), numerator < 0n ? -numerator : numerator) : new Fraction(numerator, denominator);
  return bounded(power, budget);
}

function exactCall(name: string, args: readonly Fraction[], budget: Budget): Fraction | null {
  const [first, second] = args;
  if (first === undefined) return null;
  if (second === undefined) {
    if (name === "abs") return first.abs();
    if (name === "floor") return first.floor();
    if (name === "ceil") return first.ceil();
    if (name === "factorial")
      return first.s >= 0n && first.d === 1n && first.n <= MAX_FACTORIAL ? bounded(new Fraction(fallingProduct(first.n, first.n, budget)), budget) : null;
    return null;
  }
  if (name === "gcd" && args.length === 2) return first.gcd(second);
  if (name === "lcm" && args.length === 2) return first.lcm(second);
  if (name === "max") return args.reduce((most, arg) => (arg.compare(most) > 0 ? arg : most));
  if (name === "min") return args.reduce((least, arg) => (arg.compare(least) < 0 ? arg : least));
  if (name !== "binom" || args.length !== 2 || first.d !== 1n || second.d !== 1n || first.s < 0n || second.s < 0n) return null;
  if (second.n > first.n) return new Fraction(0);
  const few = second.n * 2n > first.n ? first.n - second.n : second.n;
  return few > MAX_FACTORIAL ? null : bounded(new Fraction(fallingProduct(first.n, few, budget) / fallingProduct(few, few, budget)), budget);
}

/** n (n - 1) … with `count` factors. */
function fallingProduct(n: bigint, count: bigint, budget: Budget): bigint {
  let product = 1n;
  for (let i = 0n; i < count; i++) {
    // The product grows by some ten bits a factor.
    budget.spend(1 + Number(i >> 8n));
    product *= n - i;
  }
  return product;
}
