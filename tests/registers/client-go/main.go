// A process that is elected by client-go's leaderelection, for figures beside this crate's.
//
//	rival KUBECONFIG NAME RELEASE LEASE RENEW RETRY
//
// RELEASE is `release` or `keep`: ReleaseOnCancel. The others are milliseconds. It says "leads TOKEN FROM UNTIL" once, as holder
// does: three times the nanoseconds of the wall clock.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		panic(err)
	}
	// As many requests as it likes: the usual limit of a client is 5 a second.
	config.QPS = -1
	name := os.Args[2]
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: "rival", Namespace: "default"},
		Client:     kubernetes.NewForConfigOrDie(config).CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: name},
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   milliseconds(os.Args[4]),
		RenewDeadline:   milliseconds(os.Args[5]),
		RetryPeriod:     milliseconds(os.Args[6]),
		ReleaseOnCancel: os.Args[3] == "release",
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				now := time.Now().UnixNano()
				fmt.Println("leads", now, now, now)
				<-ctx.Done()
			},
			OnStoppedLeading: func() {},
		},
	})
}

func milliseconds(text string) time.Duration {
	number, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return time.Duration(number) * time.Millisecond
}
