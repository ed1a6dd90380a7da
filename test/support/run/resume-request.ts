import type { ResumeRequest } from "../../../durable-objects/run/control.ts";

/** A resume that asks for nothing but to go on. */
export const NOTHING_NEW: ResumeRequest = {
  boot: "deployed",
  attended: false,
  num_examples: null,
  keep_errors: false,
  expect: {},
  base_url: null,
  api_key_var: null,
  max_concurrent: null,
  max_retries: null,
  timeout_minutes: null,
};
