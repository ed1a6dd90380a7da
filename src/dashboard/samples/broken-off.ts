import { type Problem, UNREACHABLE } from "../api/problem.ts";

/** An answer that comes in lines ended before it said so. */
export const BROKEN_OFF: Problem = { ...UNREACHABLE, text: "The service broke its answer off." };
