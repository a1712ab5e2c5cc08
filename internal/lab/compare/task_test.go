package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseTasks(t *testing.T) {
	tasks, err := ParseTasks("pingpong,farm(size=300K,outstanding=5),hol", Axes{Sizes: []int64{8, 30_000}, Fanouts: []int64{1, 10}, Tasks: []int64{200}})
	require.NoError(t, err)
	var got []map[string]any
	for _, task := range tasks {
		p := task.Params
		got = append(got, map[string]any{"is": task.Spec.Name, "size": p["size"], "fanout": p["fanout"], "tasks": p["tasks"], "outstanding": p["outstanding"]})
	}
	farm := func(fanout float64) map[string]any {
		return map[string]any{"is": "farm", "size": 307200., "fanout": fanout, "tasks": 200., "outstanding": 5.}
	}
	of := func(name string, size float64) map[string]any {
		return map[string]any{"is": name, "size": size, "fanout": nil, "tasks": nil, "outstanding": nil}
	}
	assert.Equal(t, []map[string]any{of("pingpong", 8), of("pingpong", 30_000), farm(1), farm(10), of("hol", 8), of("hol", 30_000)}, got,
		"a workload's own parameters stand, axes apply where there is such a parameter")
	for _, task := range tasks {
		_, err := task.Spec.Workload()
		require.NoError(t, err, task.Spec.Name)
		assert.NotContains(t, task.Params, several)
	}
	assert.Equal(t, []int{2, 8, 2}, []int{tasks[0].ranks(8), tasks[2].ranks(8), tasks[4].ranks(8)}, "two ranks suffice for what only two take part in")
}

func TestTasksHaveDefaults(t *testing.T) {
	tasks, err := ParseTasks("pingpong,farm,hol,burst", Axes{})
	require.NoError(t, err)
	require.Len(t, tasks, 4)
	assert.Equal(t, 30_000., tasks[0].Params["size"])
}

func TestBadTasks(t *testing.T) {
	for text, want := range map[string]string{
		"frm":                  `there is no workload "frm"; did you mean farm? There are pingpong, farm, hol, burst, nas`,
		"chess":                `there is no workload "chess": there are pingpong, farm, hol, burst, nas`,
		"farm(fanot=2)":        `workload farm: there is no parameter "fanot"; did you mean fanout? There are fanout, `,
		"farm(fanout=many)":    "farm(fanout=many): ",
		"farm(ordering=loose)": `ordering "loose": want strict or relaxed`,
		"farm(size=7)":         "messages of 7 bytes: want 8 to",
		"hol(interval=5)":      "interval",
		"":                     "a name is missing",
	} {
		_, err := ParseTasks(text, Axes{})
		assert.ErrorContains(t, err, want, text)
	}
	_, err := ParseTasks("farm", Axes{Tasks: []int64{1 << 40}})
	assert.ErrorContains(t, err, "tasks")
}
