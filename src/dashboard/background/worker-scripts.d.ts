/** The address of a script that runs beside the page, relative to the module that imports it (tools/background-scripts.ts). */
declare module "*?worker" {
  const url: string;
  export default url;
}
