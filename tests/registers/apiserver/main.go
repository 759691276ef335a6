// The API server of Kubernetes, as its own module has it. go.mod names the modules of that repository by the versions
// under which they are published, where the repository itself names them by a path.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
