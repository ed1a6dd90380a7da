/** A style that a page loads beside its script: the bundler takes it out. */
declare module "*.css";
