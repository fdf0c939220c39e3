import { defineConfig } from 'drizzle-kit';

// Paths are relative to the repository root, where `pnpm generate` runs.
export default defineConfig({
  dialect: 'postgresql',
  schema: './packages/db/src/schema/**/*.ts',
  out: './drizzle',
  casing: 'snake_case',
});
