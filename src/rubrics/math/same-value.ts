import Fraction from "fraction.js";
import { Approximation } from "./approximate.ts";
import type { Budget } from "./budget.ts";
import { HUNDREDTH } from "./build.ts";
import { exactValue, type Point } from "./exact.ts";
import { anywhere, type Node, partsOf } from "./node.ts";

const POINTS = 3;
/** Prime, so that it spreads any number of symbols over as many places. */
const STRIDE = 7_919;
/** Two results of the same value in double precision, relative to it. */
const EQUAL = 1e-10;
/** What is left of a value that cancelled out, relative to what cancelled. */
const ROUNDING = 1e-13;
/** A rounded decimal stands for a value that agrees with it in six decimals and in six digits (math-verify: `float_rounding=6`). */
const DECIMALS = 5e-7;
const DIGITS = 5e-6;

export function symbolsOf(...nodes: readonly Node[]): string[] {
  const names = new Set<string>();
  const visit = (node: Node): void => {
    if (node.kind === "symbol") names.add(node.name);
    for (const part of partsOf(node)) visit(part);
  };
  for (const node of nodes) visit(node);
  return [...names].sort();
}

/**
 * Values for symbols, the same in every process: odd numbers of quarters from 5/4 on, no two symbols alike; all positive, all negative, and
 * mixed. Small denominators keep exact arithmetic quick.
 */
export function pointsFor(symbols: readonly string[]): Point[] {
  if (symbols.length === 0) return [new Map()];
  const places = Math.max(17, symbols.length);
  return Array.from({ length: POINTS }, (_, round) => {
    const valueIn = (index: number): Fraction => {
      const quarters = 5 + 2 * ((index * STRIDE + round * 5) % places);
      const positive = round === 0 || (round > 1 && index % 2 === 0);
      return new Fraction(positive ? quarters : -quarters, 4);
    };
    return new Map(symbols.map((name, index) => [name, valueIn(index)]));
  });
}

/** The value at one point: exact where it is rational, else in double precision with the scale of its rounding; null where there is none. */
export type Value = { readonly exact: Fraction } | { readonly re: number; readonly im: number; readonly scale: number };

export function valueAt(node: Node, point: Point, budget: Budget): Value | null {
  const exact = exactValue(node, point, budget);
  if (exact !== null) return { exact };
  const approximation = new Approximation(point, budget);
  const { re, im } = approximation.value(node);
  return Number.isNaN(re) || Number.isNaN(im) ? null : { re, im, scale: approximation.scale };
}

const inexact = (value: Value): { readonly re: number; readonly im: number; readonly scale: number } =>
  "exact" in value ? { re: value.exact.valueOf(), im: 0, scale: 0 } : value;

function agree(left: Value, right: Value): boolean {
  if ("exact" in left && "exact" in right) return left.exact.equals(right.exact);
  const [a, b] = [inexact(left), inexact(right)];
  if (!Number.isFinite(a.re) || !Number.isFinite(b.re)) return a.re === b.re;
  const size = Math.max(Math.hypot(a.re, a.im), Math.hypot(b.re, b.im));
  return Math.hypot(a.re - b.re, a.im - b.im) <= Math.max(EQUAL * size, ROUNDING * Math.max(a.scale, b.scale));
}

/** A number written with a decimal point, its sign and a percent sign aside. */
function isDecimal(node: Node): boolean {
  if (node.kind === "negative") return isDecimal(node.of);
  if (node.kind === "product") return node.factors.length === 2 && node.factors.includes(HUNDREDTH) && node.factors.some(isDecimal);
  return node.kind === "number" && node.decimal;
}

/** Whether two scalars are equal wherever both have a value: exactly at a few points where they are rational, else to ten digits. */
export function sameValue(left: Node, right: Node, budget: Budget): boolean {
  const symbols = symbolsOf(left, right);
  let seen = 0;
  for (const point of pointsFor(symbols)) {
    const [a, b] = [valueAt(left, point, budget), valueAt(right, point, budget)];
    if (a === null || b === null) {
      if (a !== b) return false;
      continue;
    }
    seen++;
    if (agree(a, b)) continue;
    return symbols.length === 0 && (isDecimal(left) || isDecimal(right)) && isRounding(a, b);
  }
  return seen > 0;
}

function isRounding(left: Value, right: Value): boolean {
  const [a, b] = [inexact(left), inexact(right)];
  const off = Math.hypot(a.re - b.re, a.im - b.im);
  return off <= DECIMALS && off <= DIGITS * Math.max(Math.hypot(a.re, a.im), Math.hypot(b.re, b.im));
}

/** The constant c with `left = c · right` wherever both have a value; null when there is none, or when it is 0. */
export function ratioOf(left: Node, right: Node, budget: Budget): number | null {
  let ratio: Value | null = null;
  for (const point of pointsFor(symbolsOf(left, right))) {
    const [a, b] = [valueAt(left, point, budget), valueAt(right, point, budget)];
    if (a === null || b === null) continue;
    const quotient = divided(a, b);
    if (quotient === null || (ratio !== null && !agree(ratio, quotient))) return null;
    ratio ??= quotient;
  }
  if (ratio === null) return null;
  const { re, im } = inexact(ratio);
  return im === 0 && re !== 0 ? re : null;
}

function divided(left: Value, right: Value): Value | null {
  if ("exact" in left && "exact" in right) return right.exact.n === 0n || left.exact.n === 0n ? null : { exact: left.exact.div(right.exact) };
  const [a, b] = [inexact(left), inexact(right)];
  if (a.im !== 0 || b.im !== 0 || b.re === 0 || Math.abs(b.re) < ROUNDING * b.scale) return null;
  return { re: a.re / b.re, im: 0, scale: 0 };
}

/** Whether the expression says something about unknowns alone: the left side of `x = 5`, of `f(x) = 5`, of `(p, q) = (3, 2)`. */
export const isName = (node: Node): boolean => !anywhere(node, ({ kind }) => kind === "number" || kind === "constant" || kind === "sum");
