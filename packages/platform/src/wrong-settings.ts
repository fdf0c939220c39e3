import { type Config, readConfig, SettingsError } from './config.ts';
import { wrongSettingsExit } from './exit-codes.ts';

/** Prints the problem and ends the process. */
export function endWithSettings(error: Error): never {
  process.stderr.write(`${error.message}\n`);
  process.exit(wrongSettingsExit);
}

/** Reads the settings; if any are wrong, prints all of them and ends the process. */
export function settingsOrEnd(env: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return endWithSettings(error);
  }
}
