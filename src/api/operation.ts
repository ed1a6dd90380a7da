import type { z } from "zod";

/** A route under `/api/v1` as the OpenAPI document tells of it. */
export interface Operation {
  readonly method: "get" | "put" | "post" | "patch" | "delete";
  /** Below `/api/v1`, parameters in braces. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType | readonly string[];
  /** Schema of the JSON, or the media types of anything else. By status. */
  readonly answers: Readonly<Record<string, z.ZodType | readonly string[]>>;
  /** Statuses of `errorBody` beyond those that every operation has. */
  readonly errors: readonly number[];
}
