import { type Config, readConfig, SettingsError } from './config.ts';
import { wrongSettingsExit } from './exit-codes.ts';

/** Says what is wrong and ends the process. */
export function endWithSettings(error: Error): never {
  process.stderr.write(`${error.message}\n`);
  process.exit(wrongSettingsExit);
}

/** The settings, or the end of the process with every one that is wrong. */
export function settingsOrEnd(env: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return endWithSettings(error);
  }
}
