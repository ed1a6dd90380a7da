/** The zod this package was built with, for environments in folders without packages of their own. */
export * from "zod";
export { z as default } from "zod";
