/** What tests of environments use: `import { runExample, testEnvironment } from "edgewise/testing"`. */
export { type ExampleRun, runExample, type RunExampleOptions } from "./run-example.ts";
export { type GroupRun, runGroup, type RunGroupOptions } from "./run-group.ts";
export {
  type Script,
  type ScriptedAnswer,
  type ScriptedModel,
  scriptedModel,
  type ScriptedScores,
  type ScriptedToken,
  type ScriptedToolCall,
} from "./scripted-model.ts";
export { testEnvironment, type TestEnvironmentOptions } from "./test-environment.ts";
