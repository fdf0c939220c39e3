/** Exit code of a program that cannot run with its settings (EX_CONFIG of sysexits.h): supervisors should not restart it. */
export const wrongSettingsExit = 78;
