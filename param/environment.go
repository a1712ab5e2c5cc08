package param

import "strings"

const envPrefix = "STRAND_"

// ReservedEnv starts the names of the variables with which a launcher talks to
// the processes it starts. They are no parameters; Resolve passes over them.
const ReservedEnv = envPrefix + "LAUNCH_"

// EnvName returns the environment variable that sets a parameter:
// STRAND_BTL_TCP_IF_INCLUDE for btl_tcp_if_include.
func EnvName(name string) string { return envPrefix + strings.ToUpper(name) }

func isReservedEnv(variable string) bool { return strings.HasPrefix(variable, ReservedEnv) }

// environSettings picks the settings out of an environment in the form of
// os.Environ. Letters after the prefix may have either case.
func environSettings(environ []string) []Setting {
	var settings []Setting
	for _, entry := range environ {
		variable, text, _ := strings.Cut(entry, "=")
		name, ours := strings.CutPrefix(variable, envPrefix)
		if !ours || isReservedEnv(variable) {
			continue
		}
		settings = append(settings, Setting{
			Name:   strings.ToLower(name),
			Text:   text,
			Source: Source{Kind: Environment, Where: variable},
		})
	}
	return settings
}
