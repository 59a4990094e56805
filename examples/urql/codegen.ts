import type { CodegenConfig } from "@graphql-codegen/cli";

const config: CodegenConfig = {
  schema: "src/generated/schema.graphql",
  documents: "src/*.graphql",
  config: {
    scalars: { ID: "string", DateTime: "string" },
    enumsAsTypes: true,
    useTypeImports: true,
    nonOptionalTypename: true,
    nullability: { errorHandlingClient: true },
  },
  generates: {
    "src/generated/gql/": { preset: "client", presetConfig: { fragmentMasking: false } },
    "src/generated/gql/enums.ts": { plugins: ["typescript"], config: { onlyEnums: true } },
  },
};
export default config;
